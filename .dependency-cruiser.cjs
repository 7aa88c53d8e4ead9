// The import arrows of orchd. Each rule says in its comment what it keeps true; `npm run arrows` checks them.
const STORAGE = '^libs/storage/src';
const QUEUE = '^libs/queue/src';
/** Of the pool's way to run handlers elsewhere: the side of the thread or process. */
const INSIDE = `${QUEUE}/worker-pool/isolate/inside/`;
/** For the tests of applications; published, never imported by what runs. */
const QUEUE_TESTING = `${QUEUE}/testing/`;
const HEALTH = '^libs/health/src';
const TESTING = `${STORAGE}/testing/`;
const ADAPTERS = `${STORAGE}/adapters/`;
const LOG = `${ADAPTERS}wal/log/`;
/** Specs, and the fixtures that specs share; neither is built or published. */
const SPEC = '[.](spec|fixture|e2e-spec)[.]ts$';
const LIBRARIES = '^(libs/|node_modules/@orchd/|@orchd/)';
const NEST = '^(node_modules/)?@nestjs/';

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    rule('no-cycles', 'A circle of imports has no reading order.', {}, { circular: true }),
    rule('resolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    rule(
      'no-undeclared-package',
      'What a published package imports stands in its package.json.',
      { path: '^(libs|apps)/', pathNot: SPEC },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional'] },
    ),

    // apps/orchd --> libs/health --> libs/queue --> libs/storage
    rule(
      'storage-is-the-bottom',
      'storage knows neither queue nor health nor an application.',
      { path: STORAGE },
      { path: `${QUEUE}|${HEALTH}|^apps/` },
    ),
    rule('queue-knows-storage-only', 'queue knows neither health nor an application.', { path: QUEUE }, { path: `${HEALTH}|^apps/` }),
    rule(
      'inside-is-light',
      'What runs inside a handler thread or process is loaded with each of them: Node, itself, and three files that import nothing.',
      { path: `${INSIDE}` },
      {
        path: `^(libs|apps|node_modules)/|@nestjs|@orchd`,
        pathNot: [INSIDE, `${QUEUE}/(handler/(handler|verdict)|job/job|worker-pool/failure-text)[.]ts$`],
      },
    ),
    rule(
      'what-inside-needs-imports-nothing',
      'Else a thread would load it too. Types cost nothing.',
      { path: `${QUEUE}/(handler/(handler|verdict)|worker-pool/failure-text)[.]ts$` },
      { dependencyTypesNot: ['type-only'] },
    ),
    rule('health-knows-no-app', 'A library does not know the service.', { path: HEALTH }, { path: '^apps/' }),
    rule('apps-are-apart', 'The service and the load generator share nothing.', { path: '^apps/orchd/' }, { path: '^apps/loadgen/' }),
    rule(
      'loadgen-cannot-cheat',
      'The load generator speaks HTTP and imports neither a library of ours nor the service.',
      { path: '^apps/loadgen/' },
      { path: `${LIBRARIES}|^apps/orchd/` },
    ),
    rule(
      'through-the-front-door',
      'A package is imported by its name, not by a path into its sources.',
      { path: '^(libs|apps)/([^/]+)/' },
      { path: '^(libs|apps)/', pathNot: '^$1/$2/', dependencyTypes: ['local'], dependencyTypesNot: ['aliased'] },
    ),

    // inside storage
    rule(
      'contract-and-job-table-are-pure',
      'The contract and JobTable know no framework and no platform, so that they run and are tested anywhere.',
      { path: `${STORAGE}/(contract|job-table)/`, pathNot: SPEC },
      { path: NEST },
    ),
    rule(
      'contract-and-job-table-do-no-io',
      'The contract and JobTable do no I/O and have no clock: no module of Node itself.',
      { path: `${STORAGE}/(contract|job-table)/`, pathNot: SPEC },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'contract-is-the-top',
      'The contract does not know who implements it.',
      { path: `${STORAGE}/contract/`, pathNot: SPEC },
      { path: `${STORAGE}/`, pathNot: `${STORAGE}/contract/` },
    ),
    rule(
      'job-table-knows-the-contract-only',
      'JobTable serves adapters and does not know them.',
      { path: `${STORAGE}/job-table/`, pathNot: SPEC },
      { path: `${STORAGE}/`, pathNot: `${STORAGE}/(contract|job-table)/` },
    ),
    rule(
      'adapters-are-apart',
      'An adapter does not know another one: each can be removed or copied alone.',
      { path: `${ADAPTERS}([^/]+)/` },
      { path: ADAPTERS, pathNot: `${ADAPTERS}$1/` },
    ),
    rule(
      'only-the-factory-names-adapters',
      'An adapter is chosen by configuration: nobody but storage.factory.ts names one. wal-tools.ts and migration.ts look at the files of one.',
      {
        path: '^(libs|apps)/',
        pathNot: [`${STORAGE}/(storage[.]factory|wal-tools|migration)[.]ts$`, ADAPTERS, TESTING, QUEUE_TESTING, SPEC],
      },
      { path: ADAPTERS },
    ),
    rule(
      'redis-has-the-rules-in-lua',
      'The Redis adapter decides in Lua, atomically; JobTable beside it would be a second opinion.',
      { path: `${ADAPTERS}redis/`, pathNot: SPEC },
      { path: `${STORAGE}/(job-table|table-adapter)/` },
    ),
    rule(
      'log-knows-bytes',
      'The log keeps bytes and batches; what a job is, it does not know. Of the contract it takes errors and the clock.',
      { path: LOG, pathNot: SPEC },
      { path: `${STORAGE}/(contract|job-table|table-adapter)/`, pathNot: `${STORAGE}/contract/(errors|clock)[.]ts$` },
    ),
    rule(
      'log-is-below-the-adapter',
      'The adapter is built on the log, not the other way round.',
      { path: LOG, pathNot: SPEC },
      { path: `${ADAPTERS}wal/[^/]+[.]ts$` },
    ),
    rule('log-knows-no-framework', 'The log is plain code.', { path: LOG, pathNot: SPEC }, { path: NEST }),

    // the conformance kit
    rule(
      'testing-is-for-tests',
      'The conformance kit, the manual clock and OrchdTestingModule are imported by specs and end to end tests only.',
      { path: '^(libs|apps)/', pathNot: [TESTING, QUEUE_TESTING, SPEC] },
      { path: [TESTING, QUEUE_TESTING] },
    ),
    rule(
      'kit-knows-the-contract-only',
      'The kit judges an adapter from outside: what it knows of storage is the contract.',
      { path: TESTING, pathNot: SPEC },
      { path: `${STORAGE}/`, pathNot: [TESTING, `${STORAGE}/contract/`] },
    ),
    rule(
      'model-is-a-second-opinion',
      'The model is written from the rules: sharing code with JobTable it would share its mistakes.',
      { path: `${TESTING}model` },
      { path: `${STORAGE}/job-table/` },
    ),
    rule('tests-are-the-end', 'What ships does not import tests.', { path: '^(libs|apps)/' }, { path: '^test/' }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|^apps/orchd/launch/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
