export { eventually } from './eventually.js';
export { call, type Answer, type CallOptions } from './http-call.js';
export { RawSocket } from './raw-socket.js';
export { ServiceFixture, type ServiceOptions } from './service-fixture.js';
export { ServiceProcess, type Exit, type Launch, type LogLine } from './service-process.js';
