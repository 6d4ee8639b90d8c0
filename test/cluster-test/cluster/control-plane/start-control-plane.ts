// A real control plane on this machine, without containers: etcd, kube-apiserver, kube-controller-manager.
// fake-kubelet.ts schedules and runs pods, and start-controllers.ts starts OLM and RukPak. Everything uses loopback and
// a temporary folder, and ends when it is closed.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { parseAllDocuments } from 'yaml'

export interface ControlPlane {
  /** The kubeconfig of the administrator. */
  readonly kubeconfig: string
  /** The kubeconfig of the account in deploy/cluster-rights.yaml. */
  readonly clusterTestKubeconfig: string
  /** Milliseconds after deploy/cluster-rights.yaml was applied until the API server enforced its admission policies. */
  readonly policyDelayMs: number
  readonly version: string
  readonly folder: string
  /** The output folder of build-control-plane. */
  readonly built: string
  /** Server-side apply of one object. */
  apply(object: KubernetesManifest): Promise<void>
  /** Server-side apply of all objects in the files of a folder. */
  applyFolder(folder: string): Promise<void>
  ask(
    method: string,
    path: string,
    body?: unknown,
    type?: string,
  ): Promise<{ status: number; body: Readonly<Record<string, unknown>> }>
  /** Starts another process with a separate log. It ends with the control plane. */
  start(name: string, command: string, flags: readonly string[], options?: ManagedProcessOptions): void
  ready(what: string, isReady: () => Promise<boolean>): Promise<void>
  close(): Promise<void>
}

export interface KubernetesManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

export interface ManagedProcessOptions {
  /** Whether to restart it when it ends. */
  readonly again?: boolean
  readonly env?: Readonly<Record<string, string>>
}

export interface ControlPlaneOptions {
  /** The output folder of build-control-plane, with `bin` and `crds`. */
  readonly built: string
  readonly folder: string
  readonly log: (line: string) => void
}

export async function startControlPlane({
  built,
  folder,
  log: say,
}: ControlPlaneOptions): Promise<ControlPlane> {
  const children: ChildProcess[] = []
  const bin = (name: string) => join(built, 'bin', name)
  const inFolder = (name: string) => join(folder, name)
  let isClosing = false

  const start: ControlPlane['start'] = (name, command, flags, { again = false, env = {} } = {}) => {
    const log = createWriteStream(inFolder(`${name}.log`), { flags: 'a' })
    const child = spawn(command, flags, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
      cwd: folder,
    })
    child.stdout.pipe(log, { end: false })
    child.stderr.pipe(log, { end: false })
    children.push(child)
    child.once('exit', (code) => {
      if (isClosing) return
      if (again) setTimeout(() => !isClosing && start(name, command, flags, { again, env }), 500)
      else say(`${name} ended with ${code}: ${inFolder(`${name}.log`)}`)
    })
  }

  createCertificates(folder)
  const [client, peer, secure] = await findFreePorts(3)
  start('etcd', 'etcd', [
    '--data-dir',
    inFolder('etcd'),
    '--listen-client-urls',
    `http://127.0.0.1:${client}`,
    '--advertise-client-urls',
    `http://127.0.0.1:${client}`,
    '--listen-peer-urls',
    `http://127.0.0.1:${peer}`,
    '--initial-advertise-peer-urls',
    `http://127.0.0.1:${peer}`,
    '--initial-cluster',
    `default=http://127.0.0.1:${peer}`,
  ])
  start('kube-apiserver', bin('kube-apiserver'), [
    `--etcd-servers=http://127.0.0.1:${client}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${secure}`,
    `--tls-cert-file=${inFolder('server.crt')}`,
    `--tls-private-key-file=${inFolder('server.key')}`,
    `--client-ca-file=${inFolder('ca.crt')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${inFolder('sa.pub')}`,
    `--service-account-signing-key-file=${inFolder('sa.key')}`,
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
  ])
  const server = `https://127.0.0.1:${secure}`
  const kubeconfig = inFolder('kubeconfig')
  writeFileSync(
    kubeconfig,
    kubeconfigFor(server, {
      'client-certificate': inFolder('admin.crt'),
      'client-key': inFolder('admin.key'),
    }),
  )
  const dispatcher = new Agent({
    connect: {
      ca: readFileSync(inFolder('ca.crt')),
      cert: readFileSync(inFolder('admin.crt')),
      key: readFileSync(inFolder('admin.key')),
    },
  })
  const ask: ControlPlane['ask'] = async (method, path, body, type = 'application/json') => {
    const response = await request(`${server}${path}`, {
      method: method as 'GET',
      dispatcher,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    return {
      status: response.statusCode,
      body: text.startsWith('{') ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {},
    }
  }
  const ready = async (what: string, isReady: () => Promise<boolean>) => {
    for (let tries = 0; tries < 240; tries++) {
      if (await isReady().catch(() => false)) return
      await sleep(500)
    }
    throw new Error(`${what} is not ready after two minutes: ${folder}`)
  }
  const apply: ControlPlane['apply'] = async (object) => {
    const { namespace = '', name } = object.metadata
    const path = `${apiCollectionPathByKind[object.kind]?.replace('NAMESPACE', namespace) ?? object.kind}/${name}`
    const { status, body } = await ask(
      'PATCH',
      `${path}?fieldManager=test&force=true`,
      object,
      'application/apply-patch+yaml',
    )
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body).slice(0, 400)}`)
  }
  await ready('kube-apiserver', async () => (await ask('GET', '/readyz')).status === 200)
  const { body: version } = await ask('GET', '/version')
  say(`kube-apiserver ${String(version['gitVersion'])} is ready`)
  start('kube-controller-manager', bin('kube-controller-manager'), [
    `--kubeconfig=${kubeconfig}`,
    '--use-service-account-credentials=false',
    `--service-account-private-key-file=${inFolder('sa.key')}`,
    `--root-ca-file=${inFolder('ca.crt')}`,
    '--leader-elect=false',
    '--secure-port=0',
    // The nodes are not machines and send no heartbeats.
    '--controllers=*,-node-lifecycle-controller,-taint-eviction-controller',
  ])
  // The API server publishes its endpoint, but not on loopback. The address is from a range reserved for documentation.
  await apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.10'] }],
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  })

  const { file: clusterTestKubeconfig, enforcedAfter: policyDelayMs } = await createClusterTestAccount()
  return {
    kubeconfig,
    clusterTestKubeconfig,
    policyDelayMs,
    version: String(version['gitVersion']),
    folder,
    built,
    apply,
    async applyFolder(from) {
      for (const file of readdirSync(from))
        for (const object of readKubernetesManifests(join(from, file))) await apply(object)
    },
    ask,
    start,
    ready,
    async close() {
      isClosing = true
      await dispatcher.destroy()
      for (const child of children.toReversed()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await gone
      }
    },
  }

  /** Creates the account as docs/how-to/cluster-tests.md describes. */
  async function createClusterTestAccount(): Promise<{
    readonly file: string
    readonly enforcedAfter: number
  }> {
    const rights = join(import.meta.dirname, '..', '..', '..', '..', 'deploy', 'cluster-rights.yaml')
    for (const object of readKubernetesManifests(rights)) await apply(object)
    // OLM v1 before 1.11 requires this (docs/how-to/cluster-tests.md).
    await apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'catalog-bot-trials-installer' },
      rules: [
        {
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['cluster-admin'],
          verbs: ['bind'],
        },
      ],
    })
    await apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'catalog-bot-trials-installer' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'catalog-bot-trials-installer',
      },
      subjects: [{ kind: 'ServiceAccount', name: 'trials', namespace: 'catalog-bot' }],
    })
    const { body } = await ask('POST', '/api/v1/namespaces/catalog-bot/serviceaccounts/trials/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    })
    const { token } = body['status'] as { readonly token: string }
    const file = inFolder('trial-kubeconfig')
    writeFileSync(file, kubeconfigFor(server, { token }))
    // Policies take a moment to be in force. Until then the account could delete objects of others.
    const applied = performance.now()
    const account = new Agent({ connect: { ca: readFileSync(inFolder('ca.crt')) } })
    for (const [path, object] of [
      ['/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1' }],
      [
        '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
        {
          kind: 'ClusterRoleBinding',
          apiVersion: 'rbac.authorization.k8s.io/v1',
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'catalog-bot-trials' },
        },
      ],
    ] as const)
      await ready('the admission policies', async () => {
        const response = await request(`${server}${path}?dryRun=All`, {
          method: 'POST',
          dispatcher: account,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...object, metadata: { name: 'others' } }),
        })
        return (await response.body.text()).includes('ValidatingAdmissionPolicy')
      })
    await account.destroy()
    return { file, enforcedAfter: performance.now() - applied }
  }

  function kubeconfigFor(address: string, user: object): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'trial',
      contexts: [{ name: 'trial', context: { cluster: 'trial', user: 'trial' } }],
      clusters: [
        { name: 'trial', cluster: { server: address, 'certificate-authority': inFolder('ca.crt') } },
      ],
      users: [{ name: 'trial', user }],
    })
  }
}

const apiCollectionPathByKind: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/NAMESPACE/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  EndpointSlice: '/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices',
  OLMConfig: '/apis/operators.coreos.com/v1/olmconfigs',
  ValidatingWebhookConfiguration: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  MutatingWebhookConfiguration: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  ValidatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
}

export function createKubernetesNode(
  name: string,
  annotations: Readonly<Record<string, string>>,
  status: object = {},
): object {
  const nodeCapacity = { cpu: '32', memory: '64Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
    status: { capacity: nodeCapacity, allocatable: nodeCapacity, ...status },
  }
}

export function readKubernetesManifests(file: string): readonly KubernetesManifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).flatMap((document) => {
    const value = document.toJS() as KubernetesManifest | null
    return value?.kind === undefined ? [] : [value]
  })
}

/** Creates a CA, certificates for the server and an administrator, and a key for service accounts. */
function createCertificates(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const openssl = (...parameters: string[]) => {
    const { status, stderr } = spawnSync('openssl', parameters, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl ${parameters[0] ?? ''}: ${stderr}`)
  }
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-subj',
    '/CN=trial-ca',
  )
  const signCertificate = (name: string, subject: string, extension: string) => {
    writeFileSync(join(folder, `${name}.ext`), extension)
    openssl(
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      subject,
    )
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-out',
      `${name}.crt`,
      '-extfile',
      `${name}.ext`,
    )
  }
  signCertificate('server', '/CN=kube-apiserver', 'subjectAltName=IP:127.0.0.1,DNS:localhost')
  signCertificate('admin', '/O=system:masters/CN=admin', 'extendedKeyUsage=clientAuth')
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  return ports
}
