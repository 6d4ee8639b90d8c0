// A real control plane on this machine, without containers: etcd, kube-apiserver, kube-controller-manager, kwok for nodes and
// pods, OLM v0's operators. All of it on loopback, in a folder of its own, and gone when it is closed.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { parseAllDocuments } from 'yaml'

export interface ControlPlane {
  /** The administrator's. */
  readonly kubeconfig: string
  /** Of the account that docs/cluster-rights.yaml gives its rights. */
  readonly trialKubeconfig: string
  readonly version: string
  /** Server-side apply of objects, with their kinds' plurals. */
  apply(path: string, object: object): Promise<void>
  ask(
    method: string,
    path: string,
    body?: unknown,
    type?: string,
  ): Promise<{ status: number; body: Readonly<Record<string, unknown>> }>
  close(): Promise<void>
}

export interface ControlPlaneOptions {
  /** Where build-control-plane has put `bin` and `crds`. */
  readonly built: string
  readonly folder: string
  readonly say: (line: string) => void
}

export async function startControlPlane({ built, folder, say }: ControlPlaneOptions): Promise<ControlPlane> {
  const children: ChildProcess[] = []
  const bin = (name: string) => join(built, 'bin', name)
  const place = (name: string) => join(folder, name)
  let isClosing = false

  function start(
    name: string,
    command: string,
    flags: readonly string[],
    { again = false, env = {} } = {},
  ): void {
    const log = createWriteStream(place(`${name}.log`), { flags: 'a' })
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
      // OLM's operators end once by themselves, when they have labelled what was there before.
      if (again) setTimeout(() => !isClosing && start(name, command, flags, { again, env }), 500)
      else say(`${name} ended with ${code}: ${place(`${name}.log`)}`)
    })
  }

  certificates(folder)
  const [client, peer, secure] = await freePorts(3)
  start('etcd', 'etcd', [
    '--data-dir',
    place('etcd'),
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
    `--secure-port=${secure}`,
    `--tls-cert-file=${place('server.crt')}`,
    `--tls-private-key-file=${place('server.key')}`,
    `--client-ca-file=${place('ca.crt')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${place('sa.pub')}`,
    `--service-account-signing-key-file=${place('sa.key')}`,
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
  ])
  const server = `https://127.0.0.1:${secure}`
  const kubeconfig = place('kubeconfig')
  writeFileSync(
    kubeconfig,
    kubeconfigFor(server, { 'client-certificate': place('admin.crt'), 'client-key': place('admin.key') }),
  )
  const dispatcher = new Agent({
    connect: {
      ca: readFileSync(place('ca.crt')),
      cert: readFileSync(place('admin.crt')),
      key: readFileSync(place('admin.key')),
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
  const apply: ControlPlane['apply'] = async (path, object) => {
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
    `--service-account-private-key-file=${place('sa.key')}`,
    `--root-ca-file=${place('ca.crt')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ])
  for (const crd of crdsIn(join(built, 'crds', 'olm')))
    await apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`, crd)
  for (const name of ['olm', 'operators'])
    await apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await ready(
    'the API of OLM v0',
    async () => (await ask('GET', '/apis/operators.coreos.com/v1/olmconfigs')).status === 200,
  )
  await apply('/apis/operators.coreos.com/v1/olmconfigs/cluster', {
    apiVersion: 'operators.coreos.com/v1',
    kind: 'OLMConfig',
    metadata: { name: 'cluster' },
    spec: { features: { disableCopiedCSVs: true } },
  })
  start('kwok', bin('kwok'), [
    `--kubeconfig=${kubeconfig}`,
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    ...readdirSync(join(built, 'stages')).map((file) => `--config=${join(built, 'stages', file)}`),
  ])
  for (const [name, annotations] of [
    ['pretended', { 'kwok.x-k8s.io/node': 'fake' }],
    ['stand-in', {}],
  ] as const)
    await ask('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, annotations, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
      status: {
        capacity: { cpu: '32', memory: '64Gi', pods: '110' },
        allocatable: { cpu: '32', memory: '64Gi', pods: '110' },
      },
    })
  start(
    'catalog',
    bin('catalog'),
    [
      `--kubeconfig=${kubeconfig}`,
      '--namespace=olm',
      '--writeStatusName=',
      '--opmImage=opm',
      '--util-image=util',
      '--configmapServerImage=none',
      '--bundle-unpack-timeout=60s',
      '--install-plan-retry-timeout=10s',
      '--debug',
    ],
    { again: true },
  )
  start(
    'olm',
    bin('olm'),
    [
      '--namespace=olm',
      '--watchedNamespaces=',
      '--writeStatusName=',
      '--writePackageServerStatusName=',
      '--debug',
    ],
    { again: true, env: { KUBECONFIG: kubeconfig } },
  )

  return {
    kubeconfig,
    trialKubeconfig: await trialAccount(),
    version: String(version['gitVersion']),
    apply,
    ask,
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

  /** As docs/cluster.md says that it is made. */
  async function trialAccount(): Promise<string> {
    const rights = readFileSync(
      join(import.meta.dirname, '..', '..', '..', 'docs', 'cluster-rights.yaml'),
      'utf8',
    )
    for (const document of parseAllDocuments(rights)) {
      const object = document.toJS() as { kind: string; metadata: { name: string; namespace?: string } }
      const { name, namespace } = object.metadata
      await apply(`${collections[object.kind]?.replace('NAMESPACE', namespace ?? '') ?? ''}/${name}`, object)
    }
    const { body } = await ask('POST', '/api/v1/namespaces/catalog-bot/serviceaccounts/trials/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    })
    const file = place('trial-kubeconfig')
    writeFileSync(file, kubeconfigFor(server, { token: String((body['status'] as { token: string }).token) }))
    return file
  }

  function kubeconfigFor(address: string, user: object): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'trial',
      contexts: [{ name: 'trial', context: { cluster: 'trial', user: 'trial' } }],
      clusters: [{ name: 'trial', cluster: { server: address, 'certificate-authority': place('ca.crt') } }],
      users: [{ name: 'trial', user }],
    })
  }
}

const collections: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/NAMESPACE/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
}

function crdsIn(folder: string): { metadata: { name: string } }[] {
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).flatMap((document) => {
      const value = document.toJS() as { kind?: string; metadata: { name: string } } | null
      return value?.kind === 'CustomResourceDefinition' ? [value] : []
    }),
  )
}

/** One authority, the server and an administrator under it, and a key for service accounts. */
function certificates(folder: string): void {
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
  const sign = (name: string, subject: string, extension: string) => {
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
  sign('server', '/CN=kube-apiserver', 'subjectAltName=IP:127.0.0.1,DNS:localhost')
  sign('admin', '/O=system:masters/CN=admin', 'extendedKeyUsage=clientAuth')
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  return ports
}
