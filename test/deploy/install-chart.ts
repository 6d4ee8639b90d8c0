// Installs the chart with helm on a real kube-apiserver, in namespaces that enforce the restricted Pod Security Standard. The
// StatefulSet controller creates the pods and volume claims; nothing runs them. Requires helm, etcd, and the output of
// build-control-plane. Usage: `node install-chart.ts CONTROL_PLANE SERVICE_MONITOR_CRD`. Exits with 1 if a claim fails.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import {
  readKubernetesManifests,
  startControlPlane,
  type KubernetesManifest,
} from '../cluster-test/cluster/control-plane/start-control-plane.ts'
import { chartDirectory, chartValues, renderChart, type ChartCase } from './chart-cases.ts'

const [controlPlane, crdFile] = process.argv.slice(2)
if (controlPlane === undefined || crdFile === undefined)
  throw new Error('usage: node install-chart.ts CONTROL_PLANE SERVICE_MONITOR_CRD')

const folder = mkdtempSync(join(tmpdir(), 'install-chart-'))
const plane = await startControlPlane({ built: controlPlane, folder, log: console.log })
let failures = 0
try {
  const [crd] = readKubernetesManifests(crdFile)
  if (crd === undefined) throw new Error(`${crdFile} contains no CRD`)
  await plane.apply(crd)
  await plane.ready('the ServiceMonitor CRD', async () => {
    const { status } = await plane.ask('GET', '/apis/monitoring.coreos.com/v1/servicemonitors')
    return status === 200
  })
  const priority = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1,
  }
  await plane.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', priority)
  for (const name of Object.keys(chartValues) as ChartCase[]) await installCase(name)
  await upgradeFromSetup()
} finally {
  await plane.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failures > 0 ? 1 : 0

function claim(what: string, holds: boolean, seen: string): void {
  console.log(`${holds ? 'ok   ' : 'WRONG'} ${what}`)
  if (holds) return
  failures++
  console.log(seen)
}

async function installCase(name: ChartCase): Promise<void> {
  const namespace = name.toLowerCase()
  await plane.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
  const { status, stdout, stderr } = runHelm(
    ['install', 'coast', chartDirectory],
    namespace,
    chartValues[name],
  )
  claim(`${name}: helm installs the chart`, status === 0, stderr)
  if (name === 'setup') console.log(stdout.slice(stdout.indexOf('NOTES:')))
  const pod = await waitForPod(namespace)
  claim(`${name}: the StatefulSet controller creates the pod`, pod, await readWarnings(namespace))
  const testPod = parseAllDocuments(renderChart(chartValues[name]))
    .map((document) => document.toJS() as KubernetesManifest)
    .find(({ kind }) => kind === 'Pod')
  const { status: accepted, body } = await plane.ask(
    'POST',
    `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
    testPod,
  )
  claim(`${name}: the API server accepts the pod of helm test`, accepted === 201, JSON.stringify(body))
}

/** From the setup page to a Secret with the same credentials, and what is left after an uninstall. */
async function upgradeFromSetup(): Promise<void> {
  const upgrade = runHelm(['upgrade', 'coast', chartDirectory], 'setup', chartValues.least)
  claim('setup: helm upgrades to credentials from a Secret', upgrade.status === 0, upgrade.stderr)
  const uninstall = runHelm(['uninstall', 'coast'], 'setup')
  claim('setup: helm uninstalls the chart', uninstall.status === 0, uninstall.stderr)
  const { status } = await plane.ask(
    'GET',
    '/api/v1/namespaces/setup/persistentvolumeclaims/data-coast-catalog-bot-0',
  )
  claim('setup: the volume with the credentials is kept after helm uninstall', status === 200, `${status}`)
}

function runHelm(args: readonly string[], namespace: string, values?: object) {
  return spawnSync(
    'helm',
    [...args, '--namespace', namespace, ...(values === undefined ? [] : ['--values', '-'])],
    {
      input: values === undefined ? '' : JSON.stringify(values),
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: plane.kubeconfig },
    },
  )
}

async function waitForPod(namespace: string): Promise<boolean> {
  const isCreated = async () => {
    const { status } = await plane.ask('GET', `/api/v1/namespaces/${namespace}/pods/coast-catalog-bot-0`)
    return status === 200
  }
  return plane.ready('the pod', isCreated).then(
    () => true,
    () => false,
  )
}

/** Why the controller could not create something. */
async function readWarnings(namespace: string): Promise<string> {
  const { body } = await plane.ask('GET', `/api/v1/namespaces/${namespace}/events?fieldSelector=type=Warning`)
  return (body['items'] as readonly { readonly message: string }[]).map(({ message }) => message).join('; ')
}
