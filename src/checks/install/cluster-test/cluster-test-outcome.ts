// The outcome of an install test. The table shows who must act: only failures that the author can fix count as no.

export const clusterTestFailureClassByCode = {
  // The bundles and their requirements.
  'resolution-unsatisfiable': 'content',
  'resolver-mismatch': 'content',
  'no-upgrade-edge': 'content',
  'unpack-failed': 'content',
  'unpack-too-large': 'content',
  'unpack-invalid': 'content',
  'bundle-image-missing': 'content',
  'unsupported-kind': 'content',
  'unsupported-install-mode': 'content',
  'requirements-not-met': 'content',
  'crd-incompatible': 'content',
  'plan-failed': 'content',
  'csv-failed': 'content',
  'deployment-not-available': 'content',
  'crash-loop': 'content',
  'operator-image-missing': 'content',
  'webhook-invalid': 'content',
  'refused-by-olm-v1': 'content',
  'refused-by-rukpak': 'content',
  'not-immutable': 'environment',
  'no-pivot': 'infra',
  // The catalog image.
  'catalog-image-missing': 'catalog',
  'catalog-crash': 'catalog',
  'catalog-invalid': 'catalog',
  // The cluster does not meet the requirements of the test.
  'api-absent': 'environment',
  'api-missing-for-bundle': 'environment',
  'crd-preexists': 'environment',
  occupied: 'environment',
  forbidden: 'environment',
  quota: 'environment',
  policy: 'environment',
  unschedulable: 'environment',
  'arch-mismatch': 'environment',
  'kube-version': 'environment',
  'image-unauthorized': 'environment',
  'certificate-provider-absent': 'environment',
  'olm-silent': 'environment',
  // The network or a server failed, so a retry might succeed.
  'api-unreachable': 'infra',
  'registry-failing': 'infra',
  'catalog-not-connected': 'infra',
  'too-slow': 'infra',
  killed: 'infra',
  internal: 'infra',
} as const

export type ClusterTestFailureCode = keyof typeof clusterTestFailureClassByCode
export type ClusterTestFailureClass = (typeof clusterTestFailureClassByCode)[ClusterTestFailureCode]

export type ClusterTestVerdict = 'installs' | 'does not install' | 'could not be found out'

export interface ClusterTestFailure {
  readonly code: ClusterTestFailureCode
  /** One sentence that can contain untrusted text. The renderer escapes it. */
  readonly says: string
}

export type ClusterTestOutcome =
  { readonly verdict: 'installs' } | (ClusterTestFailure & { readonly verdict: ClusterTestVerdict })

const verdictByFailureClass: Readonly<Record<ClusterTestFailureClass, ClusterTestVerdict>> = {
  content: 'does not install',
  catalog: 'does not install',
  environment: 'could not be found out',
  infra: 'could not be found out',
}

export function createFailedClusterTestOutcome(
  code: ClusterTestFailureCode,
  message: string,
): ClusterTestOutcome & ClusterTestFailure {
  return {
    verdict: verdictByFailureClass[clusterTestFailureClassByCode[code]],
    code,
    says: message.slice(0, maxFailureMessageLength),
  }
}

/** Messages of network errors, busy servers and restarts. The author did not cause them, and a retry may succeed. */
export const transientErrorPattern =
  /\bEOF\b|i\/o timeout|timed out|deadline exceeded|Client\.Timeout|TLS handshake|context canceled|connection (?:refused|reset|lost)|reset by peer|broken pipe|no route to host|no such host|network is unreachable|no endpoints available|too ?many ?requests|rate limit|etcdserver|object has been modified|server is currently unable|server was unable|\b50[0234] (?:Internal|Bad Gateway|Service|Gateway)|status ?(?:code)?:? ?5\d\d|x509/i

/** Whether the author must act. Call it only for a failure that is final or that has lasted. */
export function isAuthorCausedFailureCode(code: ClusterTestFailureCode): boolean {
  return verdictByFailureClass[clusterTestFailureClassByCode[code]] === 'does not install'
}

/** Returns true only for infrastructure failures. */
export function isRetryableClusterTestOutcome(outcome: ClusterTestOutcome): boolean {
  return 'code' in outcome && clusterTestFailureClassByCode[outcome.code] === 'infra'
}

/** In characters. OLM's messages can list long chains of constraints. */
const maxFailureMessageLength = 2000
