import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A wire between an adapter and Redis that a test can cut, or leave hanging. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;
  #deaf = false;
  #mute = false;

  private constructor(readonly targetPort: number) {
    this.#server = createServer((client) => this.#accept(client));
  }

  static async before(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all connections and every new one at once. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Keeps all connections open and swallows what is said on them, in both directions; new ones too. */
  blackhole(): void {
    this.#deaf = true;
  }

  /** Redis hears everything, and none of its answers arrives. */
  mute(): void {
    this.#mute = true;
  }

  /** New connections work again; those that hung go on hanging. */
  heal(): void {
    this.#cut = this.#deaf = this.#mute = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.#keep(client);
    if (this.#cut) return void client.destroy();
    if (this.#deaf) return void client.resume();
    const server = connect(this.targetPort, '127.0.0.1');
    this.#keep(server);
    let silent = false;
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => {
        silent ||= this.#deaf || (this.#mute && from === server);
        if (!to.destroyed && !(silent && (this.#deaf || from === server))) to.write(chunk);
      });
      from.on('close', () => to.destroy());
    };
    forward(client, server);
    forward(server, client);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
