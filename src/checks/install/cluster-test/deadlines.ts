// Time limits for the stages of an install test, in milliseconds. OLM has no limit for most of them.

const msPerSecond = 1000
const msPerMinute = 60 * msPerSecond

export interface ClusterTestDeadlines {
  /** Until the catalog is ready, including the image pull. */
  readonly catalog: number
  /** From the time when the catalog is ready until the Subscription is resolved. */
  readonly resolution: number
  /** OLM gives the unpacking Job five minutes (`olmBundleUnpackTimeout`). */
  readonly unpacking: number
  readonly plan: number
  /** OLM gives a ClusterServiceVersion five minutes from the start of its installation. */
  readonly operator: number
  /** For pulling, unpacking, and installing with RukPak or OLM v1. */
  readonly extension: number
  /**
   * How long a failure must last to be final. Controllers retry: controller-runtime (OLM v1, RukPak) waits 5 ms, 10 ms,
   * 20 ms and so on, about fifteen attempts in three minutes; OLM v0 retries an InstallPlan for one minute; kubelet
   * tries a pull four times.
   */
  readonly retryWindow: number
  readonly unreachable: number
  readonly whole: number
  readonly cleanUp: number
  readonly namespace: number
}

export const defaultClusterTestDeadlines: ClusterTestDeadlines = {
  catalog: 4 * msPerMinute,
  resolution: 90 * msPerSecond,
  unpacking: 6 * msPerMinute,
  plan: 3 * msPerMinute,
  operator: 8 * msPerMinute,
  extension: 6 * msPerMinute,
  retryWindow: 3 * msPerMinute,
  unreachable: 2 * msPerMinute,
  whole: 20 * msPerMinute,
  cleanUp: 5 * msPerMinute,
  namespace: 3 * msPerMinute,
}

/** In the format of the OperatorGroup annotation. */
export const olmBundleUnpackTimeout = '5m'
