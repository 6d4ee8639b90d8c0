// How long each stage of a trial may take, in milliseconds. OLM itself has no limit for most of them.

const second = 1000
const minute = 60 * second

export interface Deadlines {
  /** Until the catalog answers: its image is pulled first. */
  readonly catalog: number
  /** Until a Subscription is resolved, from the moment when the catalog answers. */
  readonly resolution: number
  /** A bundle is pulled and unpacked by a Job, which OLM gives five minutes (`unpackTimeout`). */
  readonly unpacking: number
  readonly plan: number
  /** OLM gives a ClusterServiceVersion five minutes once it installs, and none before. */
  readonly operator: number
  /** RukPak and OLM v1 pull, unpack and apply in one go. */
  readonly extension: number
  /**
   * Controllers attempt again whatever failed. A failure is an answer once it has outlasted their attempts: controller-runtime
   * (OLM v1, RukPak) waits 5 ms, 10 ms, 20 ms and so on, some fifteen attempts in three minutes; OLM v0 gives an InstallPlan one
   * minute; kubelet attempts a pull four times.
   */
  readonly patience: number
  readonly unreachable: number
  readonly whole: number
  readonly cleanUp: number
  readonly namespace: number
}

export const usualDeadlines: Deadlines = {
  catalog: 4 * minute,
  resolution: 90 * second,
  unpacking: 6 * minute,
  plan: 3 * minute,
  operator: 8 * minute,
  extension: 6 * minute,
  patience: 3 * minute,
  unreachable: 2 * minute,
  whole: 20 * minute,
  cleanUp: 5 * minute,
  namespace: 3 * minute,
}

/** As the annotation of an OperatorGroup says it. */
export const unpackTimeout = '5m'
