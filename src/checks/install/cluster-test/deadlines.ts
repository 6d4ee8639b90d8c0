// Time limits for the stages of an install test, in milliseconds. OLM has no limit for most of them.

const secondMs = 1000
const minuteMs = 60 * secondMs

export interface ClusterTestDeadlines {
  /** Until the catalog is ready, including the image pull. */
  readonly catalog: number
  /** From the time when the catalog is ready until the Subscription is resolved. */
  readonly resolution: number
  /** OLM gives the unpacking Job five minutes (`bundleUnpackTimeout`). */
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

export const defaultDeadlines: ClusterTestDeadlines = {
  catalog: 4 * minuteMs,
  resolution: 90 * secondMs,
  unpacking: 6 * minuteMs,
  plan: 3 * minuteMs,
  operator: 8 * minuteMs,
  extension: 6 * minuteMs,
  retryWindow: 3 * minuteMs,
  unreachable: 2 * minuteMs,
  whole: 20 * minuteMs,
  cleanUp: 5 * minuteMs,
  namespace: 3 * minuteMs,
}

/** In the format of the OperatorGroup annotation. */
export const bundleUnpackTimeout = '5m'
