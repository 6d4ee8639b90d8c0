import { workPriorityClasses } from '../adapters/github/budget/request-limits.ts'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const durationBucketSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** A minute to four weeks, because this includes the time to wait for users. */
const longDurationBucketSeconds = [
  60,
  300,
  900,
  3600,
  4 * 3600,
  24 * 3600,
  3 * 86_400,
  7 * 86_400,
  28 * 86_400,
]

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    ...createJobAndDeliveryMetrics(registers),
    ...createGitHubMetrics(registers),
    ...createPublishMetrics(registers),
    ...createScanMetrics(registers),
  }
}

function createJobAndDeliveryMetrics(registers: Registry[]) {
  return {
    deliveries: new Histogram({
      name: 'catalog_bot_delivery_seconds',
      help: 'Time from receiving the headers of a webhook delivery to sending the response',
      labelNames: ['event', 'outcome'],
      buckets: durationBucketSeconds,
      registers,
    }),
    jobs: new Histogram({
      name: 'catalog_bot_job_seconds',
      help: 'Time to run a job',
      labelNames: ['kind', 'outcome'],
      buckets: durationBucketSeconds,
      registers,
    }),
    landings: new Counter({
      name: 'catalog_bot_landings_total',
      help: 'Merges by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    verdicts: new Counter({
      name: 'catalog_bot_verdicts_total',
      help: 'Pull request evaluations by verdict',
      labelNames: ['kind'],
      registers,
    }),
    openedToMerged: new Histogram({
      name: 'catalog_bot_opened_to_merged_seconds',
      help: 'Time from when a pull request is opened until it is merged',
      buckets: longDurationBucketSeconds,
      registers,
    }),
    memory: new Gauge({
      name: 'catalog_bot_memory_bytes',
      help: 'Memory used by catalog-bot, including its child processes and the embedded database',
      registers,
    }),
    lastSweep: new Gauge({
      name: 'catalog_bot_last_sweep_timestamp_seconds',
      help: 'Time at which catalog-bot last listed all repositories',
      registers,
    }),
  }
}

function createGitHubMetrics(registers: Registry[]) {
  const githubRequests = new Counter({
    name: 'catalog_bot_github_budget_requests_total',
    help: 'GitHub requests by work class and outcome. `unchanged`: does not count toward the rate limit. `held`: not sent, to stay within the rate limit. `refused`: GitHub rejected the request because of its rate limit.',
    labelNames: ['class', 'outcome'],
    registers,
  })
  const githubWaiting = new Gauge({
    name: 'catalog_bot_github_budget_waiting',
    help: 'GitHub requests that are waiting in this process to be sent',
    labelNames: ['class'],
    registers,
  })
  // Export zeros too, for alerts that compare.
  for (const work of workPriorityClasses) {
    githubWaiting.set({ class: work }, 0)
    for (const outcome of ['sent', 'unchanged', 'refused', 'held'])
      githubRequests.inc({ class: work, outcome }, 0)
  }
  return {
    githubRequests,
    githubWaiting,
    remaining: new Gauge({
      name: 'catalog_bot_github_remaining_requests',
      help: "Requests remaining in an installation's GitHub rate limit, as last reported by GitHub",
      labelNames: ['installation', 'resource'],
      registers,
    }),
    limit: new Gauge({
      name: 'catalog_bot_github_request_limit',
      help: "An installation's GitHub rate limit",
      labelNames: ['installation', 'resource'],
      registers,
    }),
  }
}

function createPublishMetrics(registers: Registry[]) {
  return {
    published: new Counter({
      name: 'catalog_bot_published_images_total',
      help: 'Attempts to publish a catalog image, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    unpublished: new Gauge({
      name: 'catalog_bot_unpublished_images',
      help: 'Catalog images that could not be published after a merge, or whose tag another client moved',
      labelNames: ['repository'],
      registers,
    }),
  }
}

function createScanMetrics(registers: Registry[]) {
  return {
    scanned: new Counter({
      name: 'catalog_bot_scan_references_total',
      help: 'Image references that scans looked up, by result',
      labelNames: ['answer'],
      registers,
    }),
    missing: new Gauge({
      name: 'catalog_bot_scan_missing_references',
      help: 'References to images that are missing or have changed, in catalogs on branches that catalog-bot handles',
      labelNames: ['repository'],
      registers,
    }),
    unknownReferences: new Gauge({
      name: 'catalog_bot_scan_unknown_references',
      help: 'Image references for which the last scan was inconclusive',
      labelNames: ['repository'],
      registers,
    }),
    lastScan: new Gauge({
      name: 'catalog_bot_scan_last_finished_timestamp_seconds',
      help: 'Time at which the last full image scan of a repository finished',
      labelNames: ['repository'],
      registers,
    }),
    missingImageReports: new Counter({
      name: 'catalog_bot_scan_reports_total',
      help: 'Actions on the issue about missing images. `refused`: the App lacks permission, or issues are disabled.',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
