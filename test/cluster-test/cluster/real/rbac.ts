// What the account of deploy/cluster-rights.yaml can and cannot do on a real API server, and which limits the namespace
// of an install test sets for its pods.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterAction, KubeObject } from '../../../../src/checks/install/cluster-test/kube-object.ts'
import {
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  createTestNamespace,
} from '../../../../src/checks/install/cluster-test/cluster-test-objects.ts'
import { defaultClusterTestDeadlines } from '../../../../src/checks/install/cluster-test/cluster-test-state.ts'
import { toTestNamespaceName } from '../../../../src/checks/install/cluster-test/cluster-test-plan.ts'
import {
  waitForAdmissionPolicies,
  resolveAllowedEgress,
} from '../../../../src/cluster-test/process/cluster-test-handler.ts'
import {
  buildClusterTestPlan,
  cleanUpClusterTest,
} from '../../../../src/cluster-test/cluster/run-cluster-tests.ts'
import { systemClock } from '../../../../src/adapters/system-clock.ts'
import type { KubernetesManifest } from '../control-plane/start-control-plane.ts'
import type { ClusterStoryContext } from './cluster-stories.ts'
import { createPlannedClusterTest } from '../../planned-cluster-test.ts'

const rbacApiVersion = 'rbac.authorization.k8s.io/v1'

export async function runRbacStories({
  plane,
  cluster,
  startSection,
  claim,
  claimClean,
}: ClusterStoryContext): Promise<void> {
  startSection(`Kubernetes ${plane.version}`)
  const open = await waitForAdmissionPolicies(cluster, systemClock, 0)
  claim(
    'the API server enforces both policies on the account, and the bot sees that by dry runs alone',
    open === undefined,
    open ?? `${Math.round(plane.policyDelayMs)} ms after the last object of the rights`,
  )
  const waiting = readPolicyWaitCommandFromDocs()
  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
  if (hasKubectl) {
    const { status } = spawnSync('sh', ['-c', waiting], {
      env: { ...process.env, KUBECONFIG: plane.kubeconfig },
      timeout: 60_000,
    })
    claim(
      'the loop of docs/how-to/cluster-tests.md ends once the policies are in force',
      status === 0,
      waiting,
    )
    for (const [policy, kind] of [
      ['catalog-bot-trials', 'Namespace'],
      ['catalog-bot-trials-shared', 'ClusterRoleBinding'],
    ] as const) {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${policy}`
      const { body } = await plane.ask('GET', path)
      await plane.ask('DELETE', path)
      let unconfined: string | undefined
      await plane.ready('the loss of a policy', async () => {
        unconfined = await waitForAdmissionPolicies(cluster, systemClock, 0)
        return unconfined !== undefined
      })
      const isSeen = unconfined?.includes(`creates the ${kind} not-of-a-trial was accepted`) === true
      claim(`the bot sees that ${policy} is not in force`, isSeen, unconfined ?? '')
      const { status: still } = spawnSync('sh', ['-c', waiting], {
        env: { ...process.env, KUBECONFIG: plane.kubeconfig },
        timeout: 4000,
      })
      claim(`the loop waits without ${policy}`, still !== 0, `status ${still}`)
      const { name } = body['metadata'] as { readonly name: string }
      await plane.apply({ ...(body as unknown as KubernetesManifest), metadata: { name } })
      await plane.ready(
        'the policy again',
        async () => (await waitForAdmissionPolicies(cluster, systemClock, 0)) === undefined,
      )
    }
  }
  const network = await resolveAllowedEgress(cluster, ['198.51.100.0/24'])
  const plan = buildClusterTestPlan(
    createPlannedClusterTest(),
    { catalog: { image: '' }, network: network.kind === 'closed' ? network.network : undefined },
    defaultClusterTestDeadlines,
    systemClock.now(),
  )
  const name = toTestNamespaceName(plan)
  const rejected: string[] = []
  const act = async (action: ClusterAction) => {
    const answer = await cluster.perform(action)
    if (answer) rejected.push(`${answer.status} ${answer.says}`)
    return answer
  }
  await act({ kind: 'create', object: createTestNamespace(plan) })
  const sighting = await cluster.read({ apiVersion: 'v1', kind: 'Namespace', name })
  const [namespace] = sighting.kind === 'found' ? sighting.objects : []
  if (!namespace) return claim('the account may make the namespace of a trial', false, rejected.join('\n'))
  for (const object of createPrerequisiteObjects(plan, namespace)) await act({ kind: 'create', object })
  const made: KubeObject[] = []
  for (const look of listPrerequisiteQueries(plan)) {
    const found = await cluster.read(look)
    if (found.kind === 'found') made.push(...found.objects)
  }
  claim(
    'a trial has a quota, limits and a closed network, as the API server takes them',
    made.map(({ kind }) => kind).join() === 'ResourceQuota,LimitRange,NetworkPolicy' && rejected.length === 0,
    [...rejected, ...made.map(({ kind, spec }) => `${kind}: ${JSON.stringify(spec)}`)].join('\n'),
  )
  const pod = (index: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}` },
    spec: { containers: [{ name: 'a', image: 'registry.example/a:1' }] },
  })
  await plane.ready('the quota', async () => {
    const { body } = await plane.ask('GET', `/api/v1/namespaces/${name}/resourcequotas/trial`)
    return (body['status'] as { hard?: object } | undefined)?.hard !== undefined
  })
  const pods: string[] = []
  for (let index = 0; index <= plan.quota.pods; index++) {
    const { status, body } = await plane.ask('POST', `/api/v1/namespaces/${name}/pods`, pod(index))
    pods.push(`${status} ${status < 300 ? '' : String(body['message'])}`)
  }
  const admitted = pods.filter((one) => one.startsWith('201')).length
  claim(
    'what is more than the quota has is refused',
    admitted > 0 && admitted <= plan.quota.pods && /exceeded quota/.test(pods.at(-1) ?? ''),
    `${admitted} pods, then ${pods.at(-1) ?? ''}`,
  )

  const binding = (of: string, more: object): KubeObject => ({
    apiVersion: rbacApiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: of, labels: { 'catalog-bot.io/trial': plan.id } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'installer', namespace: name, ...more }],
  })
  const crd = (group: string, metadata: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `theirs.${group}`, ...metadata },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind: 'Their', plural: 'theirs', listKind: 'TheirList', singular: 'their' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  })
  const alongside = (number: number, namespace: string) => ({
    [`operatorframework.io/installed-alongside-${number}`]: `${namespace}/any.v1.0.0`,
  })
  await plane.apply(crd('other.example', {}))
  await plane.apply(
    crd('shared.example', { annotations: { ...alongside(1, name), ...alongside(2, 'operators') } }),
  )
  await plane.apply(crd('v0.example', { annotations: alongside(1, name) }))
  await plane.apply(
    crd('v1.example', { labels: { 'olm.operatorframework.io/owner-name': `catalog-bot-${plan.id}` } }),
  )
  const role = (of: string, namespace: string) =>
    plane.apply({
      apiVersion: rbacApiVersion,
      kind: 'ClusterRole',
      metadata: { name: of, labels: { 'olm.owner.namespace': namespace } },
      rules: [],
    })
  await role('of-a-trial', name)
  await role('of-others', 'operators')
  const remove = (apiVersion: string, kind: string, of: string): ClusterAction => ({
    kind: 'delete',
    at: { apiVersion, kind, name: of },
  })
  const forbidden: readonly (readonly [string, ClusterAction])[] = [
    ['delete a namespace of others', remove('v1', 'Namespace', 'catalog-bot')],
    [
      "delete somebody's CRD",
      remove('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'theirs.other.example'),
    ],
    ['take away its own bounds', remove(rbacApiVersion, 'ClusterRoleBinding', 'catalog-bot-trials')],
    [
      'delete a CRD that others brought, too',
      remove('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'theirs.shared.example'),
    ],
    ["delete somebody's ClusterRole", remove(rbacApiVersion, 'ClusterRole', 'view')],
    ['delete what OLM made for others', remove(rbacApiVersion, 'ClusterRole', 'of-others')],
    [
      'bind itself to cluster-admin',
      {
        kind: 'create',
        object: binding(`catalog-bot-${plan.id}`, { name: 'trials', namespace: 'catalog-bot' }),
      },
    ],
    [
      'bind an account of others',
      { kind: 'create', object: binding(`catalog-bot-${plan.id}`, { namespace: 'default' }) },
    ],
    ['make a binding of another name', { kind: 'create', object: binding('somebody', {}) }],
    [
      'put a NetworkPolicy elsewhere',
      {
        kind: 'create',
        object: {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: 'trial', namespace: 'default' },
          spec: { podSelector: {} },
        },
      },
    ],
  ]
  for (const [what, action] of forbidden) {
    const answer = await cluster.perform(action)
    claim(
      `the account cannot ${what}`,
      answer !== undefined && (answer.status === 422 || answer.status === 403),
      answer ? `${answer.status} ${answer.says}` : 'it was not refused',
    )
  }
  const allowed: readonly (readonly [string, ClusterAction])[] = [
    ['bind the installer of a trial', { kind: 'create', object: binding(`catalog-bot-${plan.id}`, {}) }],
    [
      'delete a CRD that OLM v0 brought for a trial',
      remove('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'theirs.v0.example'),
    ],
    [
      'delete a CRD that OLM v1 brought for a trial',
      remove('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'theirs.v1.example'),
    ],
    ['delete what OLM made for a trial', remove(rbacApiVersion, 'ClusterRole', 'of-a-trial')],
  ]
  for (const [what, action] of allowed) {
    const answer = await cluster.perform(action)
    claim(`it can ${what}`, answer === undefined, answer ? `${answer.status} ${answer.says}` : 'done')
  }
  await cleanUpClusterTest(plan.id, { cluster, clock: systemClock })
  for (const group of ['other.example', 'shared.example'])
    await plane.ask('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/theirs.${group}`)
  await plane.ask('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterroles/of-others')
  await claimClean('it')
}

/** The commands of docs/how-to/cluster-tests.md that wait for the policies. */
function readPolicyWaitCommandFromDocs(): string {
  const page = readFileSync(
    join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'how-to', 'cluster-tests.md'),
    'utf8',
  )
  const block = /```sh\n(until kubectl[^`]*)```/.exec(page)?.[1]
  if (block === undefined)
    throw new Error('docs/how-to/cluster-tests.md has no loop that waits for the policies')
  return block
}
