// Named points at which a test can kill the process, as a power failure would. Has no effect outside such a test.

/** In the order in which a plain push reaches them. */
export const crashPoints = [
  'job-taken',
  'snapshot-read',
  'verdict-recorded',
  'report-published',
  'lease-taken',
  'before-intent',
  'intent-written',
  'pushed',
  'fetched-for-audit',
  'audited',
  'landing-reported',
  'rebuild-announced',
  'rebuild-dispatched',
] as const

const mergeStrategyCrashPoints = [
  'staged',
  'signed',
  'checks-put',
  'merge-asked',
  'enqueued',
  'before-tidying',
  'group-judged',
] as const

export const publishCrashPoints = [
  'publish-begun',
  'publish-intended',
  'publish-pushed',
  'publish-recorded',
  'publish-reported',
] as const

type ReleaseCrashPoint = 'release-committed' | 'release-branched' | 'release-opened'

export type CrashPoint =
  | (typeof crashPoints)[number]
  | (typeof mergeStrategyCrashPoints)[number]
  | (typeof publishCrashPoints)[number]
  | ReleaseCrashPoint
  | 'rolled-back'

/** Kills this process with SIGKILL if the test selected this point. */
export function triggerCrashPoint(name: CrashPoint): void {
  if (process.env.CATALOG_BOT_CRASH_AT === name) process.kill(process.pid, 'SIGKILL')
}
