import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A TCP connection that says exactly what it is told, for what no HTTP client would send. */
export class RawSocket {
  #received = '';
  readonly closed: Promise<void>;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (chunk: string) => (this.#received += chunk));
    // A reset is one of the ways a server ends a connection; `received` tells what came before it.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  static async open(port: number): Promise<RawSocket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawSocket(socket);
  }

  get received(): string {
    return this.#received;
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes, 'latin1');
  }

  /** Resolves when at least `count` response heads are here, or the server has closed. */
  async responses(count: number): Promise<string> {
    while (this.#received.split(/HTTP\/1\.1 \d{3} /).length - 1 < count && !this.socket.destroyed) {
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.#received;
  }

  destroy(): void {
    this.socket.destroy();
  }
}
