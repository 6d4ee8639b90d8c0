// Classifies OLM v0's errors by the messages of OLM v0.46.0. The caller's context decides for unknown messages.
import { getKubeCondition, getListAtPath, getStringAtPath, type KubeObject } from './kube-object.ts'
import { transientErrorPattern, type ClusterTestFailure } from './cluster-test-state.ts'

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
  if (transientErrorPattern.test(message)) return { code: 'api-unreachable', says: description }
  // Another cluster might serve the API.
  if (
    /api-server resource not found|no matches for kind|could not find the requested resource|GVK/.test(
      message,
    )
  )
    return { code: 'api-missing-for-bundle', says: description }
  if (
    /validating existing CRs|updated validation is too restrictive|risk of data loss|pre-existing CRD owners/.test(
      message,
    )
  )
    return { code: 'crd-incompatible', says: description }
  if (/exceeded quota/.test(message)) return { code: 'quota', says: description }
  if (/admission webhook|violates PodSecurity/.test(message)) return { code: 'policy', says: description }
  if (/is forbidden/.test(message)) return { code: 'forbidden', says: description }
  return { code: 'plan-failed', says: description }
}

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

const unrecoverableCsvReasons: ReadonlySet<string> = new Set([
  'InstallComponentFailedNoRetry',
  'InvalidInstallStrategy',
  'InvalidWebhookDescription',
  'UnsupportedOperatorGroup',
  'InvalidInstallModes',
  'OwnerConflict',
  'InterOperatorGroupOwnerConflict',
  'CannotModifyStaticOperatorGroupProvidedAPIs',
])

/** Whether OLM cannot recover from a failure. */
export function isUnrecoverableCsvReason(reason: string): boolean {
  return unrecoverableCsvReasons.has(reason)
}

export function classifyCsvFailure(csv: KubeObject): ClusterTestFailure {
  const reason = getStringAtPath(csv.status, 'reason')
  const message = `ClusterServiceVersion ${csv.metadata.name}: ${reason}: ${getStringAtPath(csv.status, 'message')}`
  switch (reason) {
    case 'InvalidWebhookDescription':
      return { code: 'webhook-invalid', says: message }
    case 'UnsupportedOperatorGroup':
    case 'InvalidInstallModes':
      return { code: 'unsupported-install-mode', says: message }
    case 'OwnerConflict':
    case 'InterOperatorGroupOwnerConflict':
    case 'CannotModifyStaticOperatorGroupProvidedAPIs':
      return { code: 'occupied', says: message }
    case 'NoOperatorGroup':
    case 'TooManyOperatorGroups':
    case 'NoTargetNamespaces':
      return { code: 'internal', says: message }
    case 'RequirementsNotMet':
    case 'RequirementsUnknown':
      return classifyMissingRequirements(csv) ?? { code: 'olm-silent', says: message }
    // The Deployments exceeded OLM's five-minute limit. Their state shows who must act.
    case 'InstallCheckFailed':
    case 'ComponentUnhealthy':
      return { code: 'too-slow', says: message }
    default:
      return {
        code: transientErrorPattern.test(getStringAtPath(csv.status, 'message'))
          ? 'api-unreachable'
          : 'csv-failed',
        says: message,
      }
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
