// A Kubernetes API in one process, for tests: discovery, paginated lists, label selectors, merge patches, dry runs,
// finalizers, owner references, namespaces that delete their content, and responses that a test injects. The test
// controls the clock. fake-olm.ts simulates OLM on it.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubeObject } from '../../../src/checks/install/cluster-test/kube-object.ts'
import type { Clock } from '../../../src/ports/clock.ts'

interface FakeApiKind {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly isNamespaced: boolean
}

const createFakeApiKinds = (
  apiVersion: string,
  isNamespaced: boolean,
  names: Readonly<Record<string, string>>,
): FakeApiKind[] =>
  Object.entries(names).map(([kind, plural]) => ({ apiVersion, kind, plural, isNamespaced }))

export const coreApiKinds: readonly FakeApiKind[] = [
  ...createFakeApiKinds('v1', false, { Namespace: 'namespaces' }),
  ...createFakeApiKinds('v1', true, {
    Pod: 'pods',
    Event: 'events',
    ResourceQuota: 'resourcequotas',
    LimitRange: 'limitranges',
    ServiceAccount: 'serviceaccounts',
    ConfigMap: 'configmaps',
  }),
  ...createFakeApiKinds('networking.k8s.io/v1', true, { NetworkPolicy: 'networkpolicies' }),
  ...createFakeApiKinds('discovery.k8s.io/v1', true, { EndpointSlice: 'endpointslices' }),
  ...createFakeApiKinds('apps/v1', true, { Deployment: 'deployments' }),
  ...createFakeApiKinds('batch/v1', true, { Job: 'jobs' }),
  ...createFakeApiKinds('rbac.authorization.k8s.io/v1', false, {
    ClusterRole: 'clusterroles',
    ClusterRoleBinding: 'clusterrolebindings',
  }),
  ...createFakeApiKinds('admissionregistration.k8s.io/v1', false, {
    ValidatingWebhookConfiguration: 'validatingwebhookconfigurations',
    MutatingWebhookConfiguration: 'mutatingwebhookconfigurations',
  }),
  ...createFakeApiKinds('apiextensions.k8s.io/v1', false, {
    CustomResourceDefinition: 'customresourcedefinitions',
  }),
]
export const olmV0ApiKinds: readonly FakeApiKind[] = [
  ...createFakeApiKinds('operators.coreos.com/v1alpha1', true, {
    CatalogSource: 'catalogsources',
    Subscription: 'subscriptions',
    InstallPlan: 'installplans',
    ClusterServiceVersion: 'clusterserviceversions',
  }),
  ...createFakeApiKinds('operators.coreos.com/v1', true, { OperatorGroup: 'operatorgroups' }),
  ...createFakeApiKinds('operators.coreos.com/v1', false, { Operator: 'operators' }),
]
export const olmV1ApiKinds = createFakeApiKinds('olm.operatorframework.io/v1', false, {
  ClusterCatalog: 'clustercatalogs',
  ClusterExtension: 'clusterextensions',
})
export const getRukPakApiKinds = (version: 'v1alpha1' | 'v1alpha2') =>
  createFakeApiKinds(`core.rukpak.io/${version}`, false, {
    BundleDeployment: 'bundledeployments',
    ...(version === 'v1alpha1' && { Bundle: 'bundles' }),
  })

export interface FakeApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

export interface FakeApiResponse {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The server never sends this response. */
  readonly isSilent?: true
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
export interface StoredKubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly [field: string]: unknown
  metadata: Mutable<KubeObject['metadata']>
  spec?: StoredKubernetesSpec
  status?: StoredKubernetesStatus
}

/** The fields that tests use. */
interface StoredKubernetesSpec {
  readonly address?: string
  readonly approved?: boolean
  readonly clusterServiceVersionNames?: readonly string[]
  readonly namespace?: string
  readonly source?: {
    readonly catalog?: { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } }
    readonly image?: { readonly ref?: string }
  }
  readonly template?: { readonly spec?: { readonly source?: { readonly image?: { readonly ref?: string } } } }
  readonly [field: string]: unknown
}

export interface StoredKubernetesStatus {
  phase?: string
  connectionState?: {
    readonly lastObservedState?: string
    readonly address?: string
    readonly lastConnect?: string
  }
  installedCSV?: string
  installPlanRef?: { readonly name: string }
  activeBundle?: string
  readonly [field: string]: unknown
}

/** Its clock starts at a fixed time and advances on `sleep`. */
export class FakeKubernetesApi {
  readonly objects = new Map<string, StoredKubernetesObject>()
  readonly requests: FakeApiRequest[] = []
  /** Returns a response to send instead, or undefined for the usual one. */
  fault: (request: FakeApiRequest) => FakeApiResponse | undefined = () => undefined
  /** Simulated controllers, called whenever the clock advances. */
  controllers: ((now: number) => void)[] = []
  logs = new Map<string, string>()
  pageSize = Infinity
  /** The time at which the API starts to enforce the admission policies of deploy/cluster-rights.yaml. */
  policiesSince = -Infinity
  now = Date.parse('2026-01-01T00:00:00Z')
  private uids = 0
  private readonly known: readonly FakeApiKind[]

  constructor(known: readonly FakeApiKind[] = [...coreApiKinds, ...olmV0ApiKinds]) {
    this.known = known
  }

  readonly clock: Clock = {
    now: () => this.now,
    sleep: (milliseconds) => {
      this.now += milliseconds
      for (const controller of this.controllers) controller(this.now)
      this.collectGarbage()
      return Promise.resolve()
    },
  }

  time(): string {
    return new Date(this.now).toISOString().replace(/\.\d+Z/, 'Z')
  }

  list(kind: string, namespace?: string): StoredKubernetesObject[] {
    return [...this.objects.values()].filter(
      (one) => one.kind === kind && (namespace === undefined || one.metadata.namespace === namespace),
    )
  }

  get(kind: string, name?: string): StoredKubernetesObject | undefined {
    return this.list(kind).find(({ metadata }) => name === undefined || metadata.name === name)
  }

  put(
    object: Partial<StoredKubernetesObject> &
      Pick<StoredKubernetesObject, 'apiVersion' | 'kind' | 'metadata'>,
  ): StoredKubernetesObject {
    const stored: StoredKubernetesObject = {
      ...object,
      metadata: {
        uid: `uid-${++this.uids}`,
        generation: 1,
        creationTimestamp: this.time(),
        ...object.metadata,
      },
    }
    this.objects.set(getKubernetesObjectKey(stored), stored)
    return stored
  }

  remove(object: StoredKubernetesObject): void {
    if ((object.metadata.finalizers ?? []).length > 0) object.metadata.deletionTimestamp ??= this.time()
    else if (object.kind === 'Namespace' && this.objectsInNamespace(object).length > 0) {
      object.metadata.deletionTimestamp ??= this.time()
      for (const one of this.objectsInNamespace(object)) this.remove(one)
      if (this.objectsInNamespace(object).length === 0) this.objects.delete(getKubernetesObjectKey(object))
    } else this.objects.delete(getKubernetesObjectKey(object))
  }

  /** Deletes objects whose owners are gone, and continues pending deletions, such as of empty namespaces. */
  collectGarbage(): void {
    const uids = new Set([...this.objects.values()].map(({ metadata }) => metadata.uid))
    for (const object of this.objects.values()) {
      const owners = object.metadata.ownerReferences ?? []
      if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) this.remove(object)
      else if (object.metadata.deletionTimestamp !== undefined) this.remove(object)
    }
  }

  handle(request: FakeApiRequest): FakeApiResponse {
    this.requests.push(request)
    const instead = this.fault(request)
    if (instead) return instead
    const { path, method } = request
    if (path === '/version') return { status: 200, body: { gitVersion: 'v1.36.2' } }
    if (path === '/apis') {
      const versions = [...new Set(this.known.map(({ apiVersion }) => apiVersion))].filter((one) =>
        one.includes('/'),
      )
      return {
        status: 200,
        body: { groups: versions.map((groupVersion) => ({ versions: [{ groupVersion }] })) },
      }
    }
    const match =
      /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>v[^/]+)(?:\/namespaces\/(?<ns>[^/]+)(?=\/))?(?:\/(?<plural>[^/]+))?(?:\/(?<name>[^/]+))?(?:\/(?<sub>log))?$/.exec(
        path,
      )
    const { group, version = '', ns, plural, name, sub } = match?.groups ?? {}
    const apiVersion = group === undefined ? version : `${group}/${version}`
    const own = this.known.filter((one) => one.apiVersion === apiVersion)
    if (own.length === 0)
      return createKubernetesStatusResponse(
        404,
        'NotFound',
        'the server could not find the requested resource',
      )
    if (plural === undefined)
      return {
        status: 200,
        body: {
          resources: own.map(({ kind, plural: its, isNamespaced }) => ({
            name: its,
            kind,
            namespaced: isNamespaced,
          })),
        },
      }
    const kind = own.find((one) => one.plural === plural)
    if (!kind)
      return createKubernetesStatusResponse(
        404,
        'NotFound',
        'the server could not find the requested resource',
      )
    if (sub === 'log') {
      const text = this.logs.get(
        `${name ?? ''}${request.query.get('previous') === 'true' ? ' previous' : ''}`,
      )
      return text === undefined
        ? createKubernetesStatusResponse(404, 'NotFound', 'no log')
        : { status: 200, body: text }
    }
    if (method === 'POST') return this.create(request.body as KubeObject, kind, ns, request.query)
    if (name === undefined) return this.listed(kind, ns, request.query)
    const object = this.objects.get(
      getKubernetesObjectKey({ ...kind, metadata: { name, ...(ns !== undefined && { namespace: ns }) } }),
    )
    if (!object) return createKubernetesStatusResponse(404, 'NotFound', `${plural} "${name}" not found`)
    if (method === 'GET') return { status: 200, body: object }
    if (method === 'PATCH') return this.patch(object, request)
    return this.delete(object, request.body as { readonly preconditions?: { readonly uid?: string } })
  }

  private create(
    object: KubeObject,
    kind: FakeApiKind,
    namespace: string | undefined,
    query: URLSearchParams,
  ): FakeApiResponse {
    const key = getKubernetesObjectKey(object)
    const { name } = object.metadata
    if (!kind.isNamespaced && !name.startsWith('catalog-bot-') && this.now >= this.policiesSince)
      return createKubernetesStatusResponse(
        422,
        'Invalid',
        `${kind.plural} "${name}" is forbidden: ValidatingAdmissionPolicy 'catalog-bot-trials' with binding 'catalog-bot-trials' denied request: this account can only change namespaces and cluster-scoped objects whose names start with catalog-bot-`,
      )
    if (query.get('dryRun') === 'All') return { status: 201, body: object }
    if (this.objects.has(key))
      return createKubernetesStatusResponse(
        409,
        'AlreadyExists',
        `${kind.plural} "${object.metadata.name}" already exists`,
      )
    if (namespace !== undefined) {
      const its = this.get('Namespace', namespace)
      if (!its) return createKubernetesStatusResponse(404, 'NotFound', `namespaces "${namespace}" not found`)
      if (its.metadata.deletionTimestamp !== undefined)
        return createKubernetesStatusResponse(
          403,
          'Forbidden',
          `unable to create new content in namespace ${namespace} because it is being terminated`,
        )
    }
    return { status: 201, body: this.put(structuredClone(object) as StoredKubernetesObject) }
  }

  private listed(kind: FakeApiKind, namespace: string | undefined, query: URLSearchParams): FakeApiResponse {
    const wanted = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '')
    const all = this.list(kind.kind, namespace).filter(
      ({ apiVersion, metadata: { labels = {} } }) =>
        apiVersion === kind.apiVersion &&
        wanted.every((one) => {
          const [key = '', value] = one.split('=')
          return value === undefined ? key in labels : labels[key] === value
        }),
    )
    const from = Number(query.get('continue') ?? 0)
    const to = Math.min(from + this.pageSize, all.length)
    const items = all.slice(from, to).map(({ apiVersion: _, kind: __, ...rest }) => rest)
    return { status: 200, body: { metadata: { continue: to < all.length ? String(to) : '' }, items } }
  }

  private patch(object: StoredKubernetesObject, { body, query }: FakeApiRequest): FakeApiResponse {
    if (query.get('dryRun') === 'All') return { status: 200, body: object }
    const before = JSON.stringify(object.spec)
    applyMergePatch(object, body as Record<string, unknown>)
    if (JSON.stringify(object.spec) !== before)
      object.metadata.generation = (object.metadata.generation ?? 0) + 1
    return { status: 200, body: object }
  }

  private delete(
    object: StoredKubernetesObject,
    { preconditions }: { readonly preconditions?: { readonly uid?: string } },
  ): FakeApiResponse {
    if (preconditions?.uid !== undefined && preconditions.uid !== object.metadata.uid)
      return createKubernetesStatusResponse(409, 'Conflict', 'the UID in the precondition does not match')
    this.remove(object)
    return { status: 200, body: {} }
  }

  private objectsInNamespace({ metadata: { name } }: StoredKubernetesObject): StoredKubernetesObject[] {
    return [...this.objects.values()].filter(({ metadata }) => metadata.namespace === name)
  }
}

export function createKubernetesStatusResponse(
  code: number,
  reason: string,
  message: string,
  headers?: Readonly<Record<string, string>>,
): FakeApiResponse {
  return {
    status: code,
    body: { kind: 'Status', status: 'Failure', reason, message, code },
    ...(headers && { headers }),
  }
}

function getKubernetesObjectKey({
  apiVersion,
  kind,
  metadata: { namespace = '', name },
}: Pick<StoredKubernetesObject, 'apiVersion' | 'kind' | 'metadata'>): string {
  return [apiVersion, kind, namespace, name].join(' ')
}

function applyMergePatch(target: Record<string, unknown>, patch: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(patch)) {
    const there = target[key]
    if (value === null) delete target[key]
    else if (
      typeof value === 'object' &&
      !Array.isArray(value) &&
      typeof there === 'object' &&
      there !== null
    )
      applyMergePatch(there as Record<string, unknown>, value as Record<string, unknown>)
    else target[key] = structuredClone(value)
  }
}

export interface FakeApiServer {
  /** The API that currently responds. */
  api: FakeKubernetesApi
  readonly url: string
  /** The text of a kubeconfig for it. */
  readonly kubeconfig: string
  close(): Promise<void>
}

export async function startFakeApiServer(): Promise<FakeApiServer> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '', 'http://localhost')
      const text = await readRequestBody(request)
      const {
        status: code,
        body,
        headers,
        isSilent,
      } = opened.api.handle({
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        body: text === '' ? undefined : JSON.parse(text),
      })
      if (isSilent) return
      response.writeHead(code, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const opened: FakeApiServer = {
    api: new FakeKubernetesApi(),
    url,
    kubeconfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      // The client library treats plain HTTP as a mistake without this setting.
      clusters: [{ name: 'test', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'test', user: { token: 'token-of-the-cluster' } }],
    }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return opened
}

async function readRequestBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
