// Named places at which a test can end the process as a power cut would. Does nothing outside such a test.

/** Every place of a landing by plain push, in the order in which it passes them. */
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

/** Places that only some methods pass. */
const methodCrashPoints = [
  'staged',
  'signed',
  'checks-put',
  'merge-asked',
  'enqueued',
  'before-tidying',
  'group-judged',
] as const

/** Places of publishing, in the order in which it passes them. */
export const publishCrashPoints = [
  'publish-begun',
  'publish-intended',
  'publish-pushed',
  'publish-recorded',
  'publish-reported',
] as const

/** Places of a release, in the order in which it passes them. */
type ReleaseCrashPoint = 'release-committed' | 'release-branched' | 'release-opened'

export type CrashPoint =
  | (typeof crashPoints)[number]
  | (typeof methodCrashPoints)[number]
  | (typeof publishCrashPoints)[number]
  | ReleaseCrashPoint
  | 'rolled-back'

/** Ends this process at once, by SIGKILL to itself, if the test asked for it at this place. */
export function crashPoint(name: CrashPoint): void {
  if (process.env.CATALOG_BOT_CRASH_AT === name) process.kill(process.pid, 'SIGKILL')
}
