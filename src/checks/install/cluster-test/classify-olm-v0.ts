// Classifies OLM v0's errors by the messages of OLM v0.46.0. The caller's context decides for unknown messages.
import { getKubeCondition, getListAtPath, getStringAtPath, type KubeObject } from './kube-object.ts'
import {
  transientErrorPattern,
  type ClusterTestFailure,
  findFailureCode,
  type FailurePatterns,
  type ClusterTestFailureCode,
} from './cluster-test-state.ts'

export function classifyInstallPlanFailure(plan: KubeObject): ClusterTestFailure {
  const installed = getKubeCondition(plan, 'Installed')
  const message =
    installed?.message || getStringAtPath(plan.status, 'message') || (installed?.reason ?? 'no reason given')
  const description = `InstallPlan ${plan.metadata.name} failed: ${message}`
  const unsupported = getListAtPath(plan.status, 'plan').find(
    (step) => getStringAtPath(step, 'status') === 'UnsupportedResource',
  )
  if (unsupported !== undefined || /contains invalid data|UnsupportedResource/.test(message))
    return {
      code: 'unsupported-kind',
      says: `${description}${unsupported === undefined ? '' : ` (${getStringAtPath(unsupported, 'resource', 'kind')} ${getStringAtPath(unsupported, 'resource', 'name')})`}`,
    }
  return { code: findFailureCode(installPlanFailurePatterns, message) ?? 'plan-failed', says: description }
}

const installPlanFailurePatterns: FailurePatterns = [
  ['api-unreachable', transientErrorPattern],
  // Another cluster might serve the API.
  [
    'api-missing-for-bundle',
    /api-server resource not found|no matches for kind|could not find the requested resource|GVK/,
  ],
  [
    'crd-incompatible',
    /validating existing CRs|updated validation is too restrictive|risk of data loss|pre-existing CRD owners/,
  ],
  ['quota', /exceeded quota/],
  ['policy', /admission webhook|violates PodSecurity/],
  ['forbidden', /is forbidden/],
]

/** The caller has checked the Job's pods before. */
export function classifyBundleUnpackFailure(message: string): ClusterTestFailure {
  const description = `OLM could not unpack the bundle: ${message}`
  if (/data limit|too large|exceeds|ConfigMap .* size/i.test(message))
    return { code: 'unpack-too-large', says: description }
  const pull = /ErrImagePull|ImagePullBackOff|pull/i.test(message)
  if (pull && /not found|manifest unknown/i.test(message))
    return { code: 'bundle-image-missing', says: description }
  if (pull && /unauthorized|denied/i.test(message)) return { code: 'image-unauthorized', says: description }
  if (/exceeded quota/.test(message)) return { code: 'quota', says: description }
  if (/is forbidden|violates PodSecurity/.test(message)) return { code: 'policy', says: description }
  // A timeout does not identify the cause. A slow registry causes timeouts for valid bundles.
  if (
    transientErrorPattern.test(message) ||
    /DeadlineExceeded|longer than specified deadline|Evicted/.test(message)
  )
    return { code: 'too-slow', says: description }
  return { code: /BackoffLimit/.test(message) ? 'unpack-failed' : 'unpack-invalid', says: description }
}

/** The reasons of failures from which OLM cannot recover. */
export const unrecoverableCsvReasons: ReadonlySet<string> = new Set([
  'InstallComponentFailedNoRetry',
  'InvalidInstallStrategy',
  'InvalidWebhookDescription',
  'UnsupportedOperatorGroup',
  'InvalidInstallModes',
  'OwnerConflict',
  'InterOperatorGroupOwnerConflict',
  'CannotModifyStaticOperatorGroupProvidedAPIs',
])

const failureCodeByCsvReason: ReadonlyMap<string, ClusterTestFailureCode> = new Map([
  ['InvalidWebhookDescription', 'webhook-invalid'],
  ['UnsupportedOperatorGroup', 'unsupported-install-mode'],
  ['InvalidInstallModes', 'unsupported-install-mode'],
  ['OwnerConflict', 'occupied'],
  ['InterOperatorGroupOwnerConflict', 'occupied'],
  ['CannotModifyStaticOperatorGroupProvidedAPIs', 'occupied'],
  ['NoOperatorGroup', 'internal'],
  ['TooManyOperatorGroups', 'internal'],
  ['NoTargetNamespaces', 'internal'],
  // The Deployments exceeded OLM's five-minute limit. Their state shows who must act.
  ['InstallCheckFailed', 'too-slow'],
  ['ComponentUnhealthy', 'too-slow'],
])

export function classifyCsvFailure(csv: KubeObject): ClusterTestFailure {
  const reason = getStringAtPath(csv.status, 'reason')
  const message = `ClusterServiceVersion ${csv.metadata.name}: ${reason}: ${getStringAtPath(csv.status, 'message')}`
  if (reason === 'RequirementsNotMet' || reason === 'RequirementsUnknown')
    return classifyMissingRequirements(csv) ?? { code: 'olm-silent', says: message }
  const isTransient = transientErrorPattern.test(getStringAtPath(csv.status, 'message'))
  return {
    code: failureCodeByCsvReason.get(reason) ?? (isTransient ? 'api-unreachable' : 'csv-failed'),
    says: message,
  }
}

/** Returns undefined if the ClusterServiceVersion does not report an unmet requirement. */
export function classifyMissingRequirements(csv: KubeObject): ClusterTestFailure | undefined {
  const open = getListAtPath(csv.status, 'requirementStatus').filter((one) => {
    const status = getStringAtPath(one, 'status')
    return status !== 'Present' && status !== 'DeploymentFound' && status !== ''
  })
  const [first] = open
  if (first === undefined) return undefined
  const list = open
    .slice(0, 5)
    .map(
      (one) =>
        `${getStringAtPath(one, 'kind')} ${getStringAtPath(one, 'name')}: ${getStringAtPath(one, 'message') || getStringAtPath(one, 'status')}`,
    )
  const message = `ClusterServiceVersion ${csv.metadata.name} is waiting for ${list.join('; ')}`
  // A requirement of this kind concerns the cluster's version.
  const isVersion = open.every((one) => getStringAtPath(one, 'kind') === 'ClusterServiceVersion')
  if (isVersion && /version/i.test(message)) return { code: 'kube-version', says: message }
  return { code: 'requirements-not-met', says: message }
}

/** Ignores conditions that only report the state of catalogs. */
export function classifyResolutionFailure(
  subscription: KubeObject,
): { readonly isFinal: boolean; readonly says: string } | undefined {
  const condition = getKubeCondition(subscription, 'ResolutionFailed')
  if (condition?.status !== 'True') return undefined
  return {
    isFinal: condition.reason === 'ConstraintsNotSatisfiable',
    says: `OLM could not resolve the Subscription: ${condition.message}`,
  }
}
