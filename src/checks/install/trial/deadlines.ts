// Time limits of the stages of a trial, in milliseconds. OLM has no limit for most of them.

const second = 1000
const minute = 60 * second

export interface Deadlines {
  /** Until the catalog answers, including the pull of its image. */
  readonly catalog: number
  /** From the moment the catalog answers until the Subscription is resolved. */
  readonly resolution: number
  /** OLM gives the unpacking Job five minutes (`unpackTimeout`). */
  readonly unpacking: number
  readonly plan: number
  /** OLM gives a ClusterServiceVersion five minutes from the start of its installation. */
  readonly operator: number
  /** Pull, unpacking and installation together, for RukPak and OLM v1. */
  readonly extension: number
  /**
   * How long a failure must last to be final. Controllers retry: controller-runtime (OLM v1, RukPak) waits 5 ms, 10 ms,
   * 20 ms and so on, about fifteen attempts in three minutes; OLM v0 retries an InstallPlan for one minute; kubelet
   * tries a pull four times.
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

/** In the format of the OperatorGroup annotation. */
export const unpackTimeout = '5m'
