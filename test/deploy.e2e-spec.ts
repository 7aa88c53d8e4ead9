import { describe, expect, it } from '@jest/globals';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { ServiceFixture } from './harness/index.js';

const ROOT = join(import.meta.dirname, '..');
const FORCED_END_S = 2;

const orchd = new ServiceFixture();

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
}

/** Kubernetes' published schemas, compiled, by what they are for; `module` is where their types are. */
const MODELS: Record<string, { model: new (data: never) => { validate(): void }; module: string }> = {
  'apps/v1 Deployment': { model: Deployment, module: 'kubernetes-models/apps/v1' },
  'apps/v1 StatefulSet': { model: StatefulSet, module: 'kubernetes-models/apps/v1' },
  'policy/v1 PodDisruptionBudget': { model: PodDisruptionBudget, module: 'kubernetes-models/policy/v1' },
  'v1 Service': { model: Service, module: 'kubernetes-models/v1' },
};

const text = readFileSync(join(ROOT, 'deploy/orchd.yaml'), 'utf8');
const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);

function modelOf({ apiVersion, kind }: Manifest) {
  return MODELS[`${apiVersion} ${kind}`]!;
}

function validate(manifest: Manifest): void {
  const { model } = modelOf(manifest);
  new model(manifest as never).validate();
}

/** The schemas take fields that they do not know; the types made from them do not. Resolves with what the compiler says against them. */
function unknownFields(objects: readonly Manifest[]): string[] {
  const name = join(ROOT, 'test/manifests.ts');
  const source = objects
    .map((object, i) => {
      const { kind } = object;
      return `import type { I${kind} as Type${i} } from '${modelOf(object).module}'; export const object${i}: Type${i} = ${JSON.stringify(object)};`;
    })
    .join('\n');
  const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, strict: true, noEmit: true, skipLibCheck: true, types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === name || fileExists.call(host, path);
  host.getSourceFile = (path, ...rest) =>
    path === name ? ts.createSourceFile(path, source, ts.ScriptTarget.ES2022) : getSourceFile.call(host, path, ...rest);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

interface Container {
  readonly env: { readonly name: string; readonly value?: string }[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: object;
  readonly readinessProbe: object;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } };
  readonly resources: object;
  readonly securityContext: object;
  readonly volumeMounts?: { readonly name: string; readonly mountPath: string }[];
}

interface Workload extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly containers: [Container];
        readonly securityContext: object;
        readonly enableServiceLinks: boolean;
        readonly terminationGracePeriodSeconds: number;
      };
    };
    readonly volumeClaimTemplates?: { readonly metadata: { readonly name: string } }[];
  };
}

function workload(kind: string): Workload {
  return manifests.find((manifest) => manifest.kind === kind) as Workload;
}

function envOf({ spec }: Workload): Record<string, string | undefined> {
  return Object.fromEntries(spec.template.spec.containers[0].env.map(({ name, value }) => [name, value]));
}

const workloads = [workload('Deployment'), workload('StatefulSet')];

describe('deploy/orchd.yaml', () => {
  it.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    '%s is valid by the schema of Kubernetes',
    (_, manifest) => expect(() => validate(manifest)).not.toThrow(),
  );

  it('has no field that Kubernetes does not know', () => {
    expect(unknownFields(manifests)).toEqual([]);
  });

  it('would be found wrong for a value of the wrong type and for a misspelt field', () => {
    const [deployment] = workloads as [Workload];
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: 'two' } } as unknown as Manifest;
    expect(() => validate(wrong)).toThrow('replicas must be integer');
    const misspelt = { ...deployment, spec: { ...deployment.spec, replica: 2 } } as Manifest;
    expect(unknownFields([misspelt])).toEqual([expect.stringMatching(/"replica".* does not exist/)]);
  });

  it('has two variants, told apart by a label: two pods on Redis, one pod on a volume of its own', () => {
    const kindsOf = (instance: string) =>
      manifests.filter(({ metadata }) => metadata.labels['app.kubernetes.io/instance'] === instance).map(({ kind }) => kind);
    expect(kindsOf('orchd')).toEqual(['Deployment', 'Service', 'PodDisruptionBudget']);
    expect(kindsOf('orchd-wal')).toEqual(['StatefulSet', 'Service', 'PodDisruptionBudget']);
    expect(manifests).toHaveLength(6);
    expect(workloads.map(({ spec }) => spec.replicas)).toEqual([2, 1]);
    expect(workloads.map((object) => envOf(object).ORCHD_STORAGE)).toEqual(['redis', 'wal']);
    const { volumeClaimTemplates, template } = workloads[1]!.spec;
    const mount = template.spec.containers[0].volumeMounts![0]!;
    expect(volumeClaimTemplates!.map(({ metadata }) => metadata.name)).toEqual([mount.name]);
    expect(envOf(workloads[1]!).ORCHD_DATA_DIR).toMatch(new RegExp(`^${mount.mountPath}/`));
  });

  it.each(workloads.map((object) => [object.kind, object] as const))(
    'gives the pods of the %s no rights, and probes that orchd answers',
    (_, { spec }) => {
      const { containers, securityContext } = spec.template.spec;
      const [container] = containers;
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } });
      const none = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
      expect(container.securityContext).toEqual(none);
      expect(container.livenessProbe).toMatchObject({ httpGet: { path: '/healthz', port: 'http' } });
      expect(container.readinessProbe).toMatchObject({ httpGet: { path: '/readyz', port: 'http' } });
      expect(container.resources).toMatchObject({ requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } });
    },
  );

  it('routes each Service, inside the cluster only, and each budget to the pods of its variant', () => {
    const others = manifests.filter(({ kind }) => kind === 'Service' || kind === 'PodDisruptionBudget');
    for (const { kind, metadata, spec } of others as (Manifest & { spec: Record<string, unknown> })[]) {
      const pods = workloads.find((object) => object.metadata.name === metadata.name)!.spec.template.metadata.labels;
      expect(spec.selector).toEqual(kind === 'Service' ? pods : { matchLabels: pods });
      if (kind === 'Service') expect(spec).toMatchObject({ type: 'ClusterIP', ports: [{ targetPort: 'http' }] });
    }
    for (const { spec } of workloads) expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
  });

  it('lets a pod finish: its grace is longer than preStop, the grace of orchd and the forced end together', () => {
    for (const object of workloads) {
      const { containers, terminationGracePeriodSeconds } = object.spec.template.spec;
      const preStopS = Number(containers[0].lifecycle.preStop.exec.command.at(-1));
      const graceS = Number(envOf(object).ORCHD_SHUTDOWN_GRACE_MS) / 1000;
      expect(terminationGracePeriodSeconds).toBeGreaterThan(preStopS + graceS + FORCED_END_S);
    }
  });

  it('sets what orchd reads, and no service link in its way', async () => {
    const help = orchd.launchBare({ flags: ['--help'] });
    await help.exited;
    for (const object of workloads) {
      expect(object.spec.template.spec.enableServiceLinks).toBe(false);
      for (const name of Object.keys(envOf(object))) expect(help.stdout).toContain(` ${name} `);
    }
  });
});
