// Jest runs as ES modules (`npm run jest`). Unit tests see the sources; end to end tests see the built service.
const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

const common = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/scripts/jest/leak-check-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  modulePathIgnorePatterns: ['/dist/'],
  moduleNameMapper: {
    '^\\./entry-files\\.js$': '<rootDir>/scripts/jest/entry-files.mjs',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@orchd/queue/testing$': '<rootDir>/libs/queue/src/testing/index.ts',
    '^@orchd/storage/testing$': '<rootDir>/libs/storage/src/testing/index.ts',
    '^@orchd/storage/(wal-tools|migration)$': '<rootDir>/libs/storage/src/$1.ts',
    '^@orchd/storage/(memory|wal|redis)$': '<rootDir>/libs/storage/src/adapters/$1/index.ts',
    '^@orchd/(storage|queue|health)$': '<rootDir>/libs/$1/src/index.ts',
  },
};

export default {
  // Never a deadline for correct code, only for code that hangs: machines are shared and slow.
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/scripts/jest/leak-reporter.mjs'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      globalSetup: '<rootDir>/scripts/jest/compile-entries.mjs',
      testMatch: [
        '<rootDir>/libs/**/*.spec.ts',
        '<rootDir>/apps/**/*.spec.ts',
        '<rootDir>/examples/**/*.spec.ts',
        '<rootDir>/test/bench/**/*.spec.mjs',
      ],
    },
    { ...common, displayName: 'e2e', testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'] },
    // The files that do not speak of the log, a second time: `ServiceFixture` starts orchd on Redis there.
    {
      ...common,
      displayName: 'e2e-redis',
      globals: { suiteStorage: 'redis' },
      testMatch: ['delays', 'http-job-calls', 'http-jobs', 'kill9', 'loadgen', 'repeats', 'shutdown', 'workers'].map(
        (name) => `<rootDir>/test/${name}.e2e-spec.ts`,
      ),
    },
  ],
};
