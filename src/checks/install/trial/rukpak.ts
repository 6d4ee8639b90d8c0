// A trial with either version of RukPak: install, attempt a change in place, and for an upgrade replace the bundle (the
// pivot).
import type { Deadlines } from './deadlines.ts'
import {
  deploymentTrouble,
  isAvailable,
  mayPass,
  operatorPods,
  overdueDeployments,
  podsOf,
  podTrouble,
  pullTrouble,
  unpackPods,
} from './judge-pods.ts'
import {
  conditionOf,
  objectOf,
  objectsOf,
  textAt,
  type Action,
  type KubeObject,
  type Look,
  type Seen,
} from './kube-object.ts'
import {
  bundleDeployment,
  groundLooks,
  groundObjects,
  imageSource,
  namespaceObject,
  type RukPakTarget,
} from './trial-objects.ts'
import { blamesAuthor, transient, type TrialFailure } from './trial-outcome.ts'
import { clusterNameOf, namesIn, namespaceOf, type TrialPlan } from './trial-plan.ts'
import {
  ends,
  enter,
  fails,
  lasting,
  remember,
  waits,
  type Progress,
  type TrialKind,
  type TrialState,
} from './trial-state.ts'

type Stage = 'preflight' | 'ground' | 'deployment' | 'immutability'
type State = TrialState<Stage>

/** `v1alpha2` has no Bundle object. */
export const rukPakVersions = ['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'] as const

export function rukPak(
  plan: TrialPlan,
  deadlines: Deadlines,
  target: RukPakTarget,
  apiVersion: (typeof rukPakVersions)[number],
): TrialKind<Stage> {
  const hasBundles = apiVersion === 'core.rukpak.io/v1alpha1'
  const looks = looksOf(plan, apiVersion, hasBundles)

  return {
    first: 'preflight',
    looks: ({ stage, memory }) =>
      stage === 'preflight'
        ? [looks.namespace, ...looks.crds]
        : [...looks.running, ...namesIn(memory['elsewhere']).map(podsIn)],
    next: (state, seen, now) =>
      ({ preflight, ground, deployment: install, immutability })[state.stage](state, seen, now),
  }

  function preflight(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const there = looks.crds.find((look) => objectOf(seen, look) !== undefined)
    if (there && !namespace)
      return fails(state, now, {
        code: 'crd-preexists',
        says: `the cluster has the CRD ${there.name ?? ''} already: RukPak would take it over, and away with the trial`,
      })
    if (!namespace) return waits(state, 'the namespace', [{ kind: 'create', object: namespaceObject(plan) }])
    return enter(state, 'ground', now, `namespace ${namespace.metadata.name} is there`)
  }

  function ground(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const [first] = plan.steps
    if (!namespace || !first) return waits(state, 'the namespace')
    const missing = groundObjects(plan, namespace).filter(
      ({ apiVersion: its, kind, metadata: { name } }) =>
        objectOf(seen, { apiVersion: its, kind, name, namespace: namespaceOf(plan) }) === undefined,
    )
    if (missing.length > 0)
      return waits(
        state,
        'what the trial stands on',
        missing.map((object) => ({ kind: 'create', object })),
      )
    return enter(state, 'deployment', now, `${first.root} is to be installed`, [
      { kind: 'create', object: bundleDeployment(plan, namespace, target, { apiVersion, step: first }) },
    ])
  }

  function install(state: State, seen: Seen, now: number): Progress<Stage> {
    const wanted = plan.steps[state.step]
    const namespace = objectOf(seen, looks.namespace)
    const found = objectOf(seen, looks.deployment)
    if (!wanted) return ends(state, now, { verdict: 'installs' })
    if (!found)
      return namespace && state.step === 0
        ? waits(state, 'the BundleDeployment', [
            {
              kind: 'create',
              object: bundleDeployment(plan, namespace, target, { apiVersion, step: wanted }),
            },
          ])
        : waits(state, 'the BundleDeployment')
    const bundles = objectsOf(seen, looks.bundles)
    const bundle = bundles.find((one) => textAt(one.spec, 'source', 'image', 'ref') === wanted.image)
    const unpacked = conditionOf(hasBundles ? bundle : found, 'Unpacked')
    const valid = conditionOf(found, 'HasValidBundle')
    const installed = conditionOf(found, 'Installed')
    const healthy = conditionOf(found, 'Healthy')
    const generation = found.metadata.generation ?? 0
    const observed = Number(
      (found.status as { readonly observedGeneration?: number } | undefined)?.observedGeneration ??
        generation,
    )
    const isTakenUp = observed >= generation && (!hasBundles || bundle !== undefined)
    const refused = isTakenUp
      ? [unpacked, valid, installed].find((one) => one?.status === 'False' && refusals.has(one.reason))
      : undefined
    // These pods carry the name of the Bundle, not of the BundleDeployment.
    const unpacking = objectsOf(seen, looks.unpackPods).filter(
      ({ metadata }) => metadata.name === bundle?.metadata.name,
    )
    const pods = podTrouble(unpacking, unpackPods)
    const failure = refused
      ? (pods ?? refusal(refused.message, refused.reason))
      : pods && !mayPass.has(pods.code)
        ? pods
        : undefined
    const { state: followed, milliseconds } = lasting(state, failure?.code, now)
    // RukPak retries every failure. A failure is final if it outlasts the retries and is not RukPak's own.
    const isFinal = failure !== undefined && milliseconds >= deadlines.patience
    if (isFinal && (blamesAuthor(failure.code) || !mayPass.has(failure.code)))
      return fails(followed, now, failure)
    const active = textAt(found.status, 'activeBundle')
    const isActive = !hasBundles || (bundle !== undefined && active === bundle.metadata.name)
    // `v1alpha2` sets HasValidBundle only on invalid bundles.
    const isValid = hasBundles
      ? valid?.status === 'True'
      : unpacked?.status === 'True' && valid?.status !== 'False'
    const isInstalled = isTakenUp && isValid && installed?.status === 'True' && isActive
    const deployments = objectsOf(seen, looks.deployments).filter(isOwned)
    // RukPak before 0.17 chooses the namespace, and plain manifests name theirs.
    const elsewhere = elsewhereIn(deployments)
    const knows = remember(followed, { elsewhere: JSON.stringify(elsewhere) })
    const running = [looks.pods, ...elsewhere.map(podsIn)].flatMap((look) => objectsOf(seen, look))
    const why = deploymentTrouble(deployments) ?? podTrouble(podsOf(deployments, running), operatorPods)
    const lazy = deployments.find((one) => !isAvailable(one))
    const isHealthy = healthy === undefined || healthy.status === 'True'
    const old = hasBundles && isInstalled ? bundles.filter((one) => one !== bundle) : []
    if (isInstalled && isHealthy && !lazy && old.length === 0)
      return hasBundles && bundle && state.step === 0
        ? enter(state, 'immutability', now, `${wanted.root} is installed`, [changeInPlace(bundle)])
        : stepDone(state, now)
    if (why && !mayPass.has(why.code)) return fails(state, now, why)
    const what = !isTakenUp
      ? 'RukPak to take it up'
      : !isInstalled
        ? (failure?.says ??
          `${wanted.root} to be installed (${[unpacked, valid, installed].flatMap((one) => one?.reason || []).join(', ')})`)
        : old.length > 0
          ? `Bundle ${old[0]?.metadata.name ?? ''} to go`
          : `the workloads of ${wanted.root}`
    if (now - state.since < (isInstalled ? deadlines.operator : deadlines.extension))
      return waits(knows, what)
    const cause = why ?? failure ?? pods
    // The refusal is recent, so the next attempt may succeed.
    const isOpen = cause === failure && cause !== undefined && blamesAuthor(cause.code)
    if (cause) return fails(state, now, isOpen ? { ...cause, code: 'too-slow' } : cause)
    if (old.length > 0)
      return fails(state, now, {
        code: 'no-pivot',
        says: `RukPak keeps ${old[0]?.metadata.name ?? ''} beside ${active}`,
      })
    if (state.step > 0 && isTakenUp && !isActive)
      return fails(state, now, {
        code: 'no-pivot',
        says: `${active} stays active, and ${wanted.root} does not take its place`,
      })
    if (isInstalled)
      return fails(state, now, overdueDeployments(deployments, running, what, now - deadlines.patience))
    return fails(state, now, {
      code: (hasBundles ? valid : unpacked) ? 'too-slow' : 'olm-silent',
      says: `it still waits for ${what}`,
    })
  }

  /** A dry run that tests whether the API accepts a change in place. */
  function changeInPlace({ metadata: { name } }: KubeObject): Action {
    return {
      kind: 'patch',
      at: { apiVersion, kind: 'Bundle', name },
      patch: { spec: { source: { image: { ref: 'localhost/changed-in-place:trial' } } } },
      dryRun: true,
    }
  }

  function immutability(state: State, seen: Seen, now: number): Progress<Stage> {
    const answer = seen.refused.find(({ action }) => action.kind === 'patch' && action.dryRun === true)
    // An account without the right cannot test this.
    if (answer && /cannot patch resource|ValidatingAdmissionPolicy/.test(answer.says))
      return fails(state, now, {
        code: 'forbidden',
        says: `whether a Bundle can be changed in its place could not be tried: ${answer.says}`,
      })
    if (answer && [400, 403, 422].includes(answer.status))
      return stepDone(state, now, 'the API refuses to change a Bundle in its place')
    // A busy API has not answered the question.
    if (answer) return waits(state, 'whether a Bundle can be changed in its place', [answer.action])
    return fails(state, now, {
      code: 'not-immutable',
      says: 'the cluster lets a Bundle be changed in its place: the webhook of RukPak is not at work',
    })
  }

  function stepDone(
    state: State,
    now: number,
    says = `${plan.steps[state.step]?.root ?? ''} runs`,
  ): Progress<Stage> {
    const next = plan.steps[state.step + 1]
    if (!next) return ends(state, now, { verdict: 'installs' })
    const source = imageSource(plan, next)
    return enter(
      { ...state, step: state.step + 1, memory: {} },
      'deployment',
      now,
      `${says}; ${next.root} follows`,
      [
        {
          kind: 'patch',
          at: looks.deployment,
          patch: { spec: hasBundles ? { template: { spec: { source } } } : { source } },
        },
      ],
    )
  }

  function elsewhereIn(deployments: readonly KubeObject[]): readonly string[] {
    const own = namespaceOf(plan)
    return [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? own))].filter(
      (namespace) => namespace !== own,
    )
  }

  function isOwned({ metadata }: KubeObject): boolean {
    return metadata.labels?.['core.rukpak.io/owner-name'] === clusterNameOf(plan)
  }
}

const refusals: ReadonlySet<string> = new Set([
  'UnpackFailed',
  'BundleLoadFailed',
  'InstallFailed',
  'UpgradeFailed',
  'ReconcileFailed',
])

function refusal(message: string, reason: string): TrialFailure {
  const says = `RukPak: ${reason}: ${message}`
  // RukPak's own disk or address failed, not the bundle.
  if (/persist bundle content|get content URL|no space left/.test(message)) return { code: 'internal', says }
  // On a busy machine, RukPak reads EOF from its own server and reports BundleLoadFailed.
  if (transient.test(message))
    return { code: reason === 'UnpackFailed' ? 'registry-failing' : 'api-unreachable', says }
  if (reason === 'UnpackFailed') return { code: pullTrouble(message, unpackPods) ?? 'unpack-failed', says }
  if (/no matches for kind|could not find the requested resource/.test(message))
    return { code: 'api-missing-for-bundle', says }
  if (/already exists|invalid ownership metadata/.test(message)) return { code: 'occupied', says }
  if (/is forbidden/.test(message)) return { code: 'policy', says }
  return { code: 'refused-by-rukpak', says }
}

const podsIn = (namespace: string): Look => ({ apiVersion: 'v1', kind: 'Pod', namespace })

const system = 'rukpak-system'

function looksOf(plan: TrialPlan, apiVersion: string, hasBundles: boolean) {
  const name = clusterNameOf(plan)
  const namespace = namespaceOf(plan)
  const owned = `core.rukpak.io/owner-name=${name}`
  const look = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    deployment: { apiVersion, kind: 'BundleDeployment', name },
    deployments: { apiVersion: 'apps/v1', kind: 'Deployment', labels: owned },
    pods: { apiVersion: 'v1', kind: 'Pod', namespace },
    unpackPods: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: system,
      labels: 'core.rukpak.io/owner-kind=Bundle',
    },
  } as const
  const bundles: Look = { apiVersion, kind: 'Bundle', labels: owned }
  return {
    ...look,
    bundles,
    crds: plan.crds.map((crd): Look => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: crd,
    })),
    running: [
      ...Object.values(look),
      ...(hasBundles ? [bundles] : []),
      ...groundLooks(plan),
    ] as readonly Look[],
  }
}
