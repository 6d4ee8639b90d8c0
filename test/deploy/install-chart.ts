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
import { chartDirectory, chartValuesByCase, renderChart, type ChartCase } from './chart-cases.ts'

const [controlPlane, crdFile] = process.argv.slice(2)
if (controlPlane === undefined || crdFile === undefined)
  throw new Error('usage: node install-chart.ts CONTROL_PLANE SERVICE_MONITOR_CRD')

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'install-chart-'))
const testControlPlane = await startControlPlane({
  built: controlPlane,
  folder: temporaryDirectory,
  log: console.log,
})
let failedAssertionCount = 0
try {
  const [crd] = readKubernetesManifests(crdFile)
  if (crd === undefined) throw new Error(`${crdFile} contains no CRD`)
  await testControlPlane.apply(crd)
  await testControlPlane.ready('the ServiceMonitor CRD', async () => {
    const { status } = await testControlPlane.ask('GET', '/apis/monitoring.coreos.com/v1/servicemonitors')
    return status === 200
  })
  const priority = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1,
  }
  await testControlPlane.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', priority)
  for (const name of Object.keys(chartValuesByCase) as ChartCase[]) await installChartForCase(name)
  await upgradeChartToSecretAndUninstall()
} finally {
  await testControlPlane.close()
  rmSync(temporaryDirectory, { recursive: true, force: true })
}
process.exitCode = failedAssertionCount > 0 ? 1 : 0

function recordAssertion(what: string, holds: boolean, seen: string): void {
  console.log(`${holds ? 'ok   ' : 'WRONG'} ${what}`)
  if (holds) return
  failedAssertionCount++
  console.log(seen)
}

async function installChartForCase(name: ChartCase): Promise<void> {
  const namespace = name.toLowerCase()
  await testControlPlane.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
  const { status, stdout, stderr } = runHelm(
    ['install', 'coast', chartDirectory],
    namespace,
    chartValuesByCase[name],
  )
  recordAssertion(`${name}: helm installs the chart`, status === 0, stderr)
  if (name === 'setup') console.log(stdout.slice(stdout.indexOf('NOTES:')))
  const pod = await waitForPod(namespace)
  recordAssertion(
    `${name}: the StatefulSet controller creates the pod`,
    pod,
    await readWarningEvents(namespace),
  )
  const testPod = parseAllDocuments(renderChart(chartValuesByCase[name]))
    .map((document) => document.toJS() as KubernetesManifest)
    .find(({ kind }) => kind === 'Pod')
  const { status: accepted, body } = await testControlPlane.ask(
    'POST',
    `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
    testPod,
  )
  recordAssertion(
    `${name}: the API server accepts the pod of helm test`,
    accepted === 201,
    JSON.stringify(body),
  )
}

/** From the setup page to a Secret with the same credentials, and what is left after an uninstall. */
async function upgradeChartToSecretAndUninstall(): Promise<void> {
  const upgrade = runHelm(['upgrade', 'coast', chartDirectory], 'setup', chartValuesByCase.least)
  recordAssertion('setup: helm upgrades to credentials from a Secret', upgrade.status === 0, upgrade.stderr)
  const uninstall = runHelm(['uninstall', 'coast'], 'setup')
  recordAssertion('setup: helm uninstalls the chart', uninstall.status === 0, uninstall.stderr)
  const { status } = await testControlPlane.ask(
    'GET',
    '/api/v1/namespaces/setup/persistentvolumeclaims/data-coast-catalog-bot-0',
  )
  recordAssertion(
    'setup: the volume with the credentials is kept after helm uninstall',
    status === 200,
    `${status}`,
  )
}

function runHelm(args: readonly string[], namespace: string, values?: object) {
  return spawnSync(
    'helm',
    [...args, '--namespace', namespace, ...(values === undefined ? [] : ['--values', '-'])],
    {
      input: values === undefined ? '' : JSON.stringify(values),
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: temporaryDirectory,
        KUBECONFIG: testControlPlane.kubeconfig,
      },
    },
  )
}

async function waitForPod(namespace: string): Promise<boolean> {
  const isCreated = async () => {
    const { status } = await testControlPlane.ask(
      'GET',
      `/api/v1/namespaces/${namespace}/pods/coast-catalog-bot-0`,
    )
    return status === 200
  }
  return testControlPlane.ready('the pod', isCreated).then(
    () => true,
    () => false,
  )
}

/** Why the controller could not create something. */
async function readWarningEvents(namespace: string): Promise<string> {
  const { body } = await testControlPlane.ask(
    'GET',
    `/api/v1/namespaces/${namespace}/events?fieldSelector=type=Warning`,
  )
  return (body['items'] as readonly { readonly message: string }[]).map(({ message }) => message).join('; ')
}
