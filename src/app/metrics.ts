import { workClasses } from '../github/budget/work-class.ts'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** A minute to four weeks, because this includes waiting for people. */
const longDurationBuckets = [60, 300, 900, 3600, 4 * 3600, 24 * 3600, 3 * 86_400, 7 * 86_400, 28 * 86_400]

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const githubRequests = new Counter({
    name: 'catalog_bot_github_budget_requests_total',
    help: "Requests to GitHub by what they were for; unchanged: free of the limit; held: not sent, to stay within it; refused: GitHub's limit",
    labelNames: ['class', 'outcome'],
    registers,
  })
  const githubWaiting = new Gauge({
    name: 'catalog_bot_github_budget_waiting',
    help: 'Requests that wait within this process until they may be sent',
    labelNames: ['class'],
    registers,
  })
  // Export zeros too, for alerts that compare.
  for (const work of workClasses) {
    githubWaiting.set({ class: work }, 0)
    for (const outcome of ['sent', 'unchanged', 'refused', 'held'])
      githubRequests.inc({ class: work, outcome }, 0)
  }
  return {
    registry,
    deliveries: new Histogram({
      name: 'catalog_bot_delivery_seconds',
      help: 'From the first byte of a delivery to its answer',
      labelNames: ['event', 'outcome'],
      buckets: durationBuckets,
      registers,
    }),
    jobs: new Histogram({
      name: 'catalog_bot_job_seconds',
      help: 'Time to do one job',
      labelNames: ['kind', 'outcome'],
      buckets: durationBuckets,
      registers,
    }),
    landings: new Counter({
      name: 'catalog_bot_landings_total',
      help: 'Landings by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    lastSweep: new Gauge({
      name: 'catalog_bot_last_sweep_timestamp_seconds',
      help: 'When all repositories were last listed',
      registers,
    }),
    verdicts: new Counter({
      name: 'catalog_bot_verdicts_total',
      help: 'Looks at pull requests, by what came of them',
      labelNames: ['kind'],
      registers,
    }),
    openedToMerged: new Histogram({
      name: 'catalog_bot_opened_to_merged_seconds',
      help: 'From the opening of a pull request to its merge by the bot',
      buckets: longDurationBuckets,
      registers,
    }),
    remaining: new Gauge({
      name: 'catalog_bot_github_remaining_requests',
      help: "What is left of an installation's limit at GitHub, as GitHub last said",
      labelNames: ['installation', 'resource'],
      registers,
    }),
    limit: new Gauge({
      name: 'catalog_bot_github_request_limit',
      help: "An installation's limit at GitHub",
      labelNames: ['installation', 'resource'],
      registers,
    }),
    githubRequests,
    githubWaiting,
    published: new Counter({
      name: 'catalog_bot_published_images_total',
      help: 'Attempts to publish a catalog image, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    unpublished: new Gauge({
      name: 'catalog_bot_unpublished_images',
      help: 'Catalog images whose merged catalog could not be published, or whose tag somebody else moved',
      labelNames: ['repository'],
      registers,
    }),
    scanned: new Counter({
      name: 'catalog_bot_scan_references_total',
      help: 'References that scans looked up, by answer',
      labelNames: ['answer'],
      registers,
    }),
    missing: new Gauge({
      name: 'catalog_bot_scan_missing_references',
      help: 'References of published catalogs whose images are missing or changed',
      labelNames: ['repository'],
      registers,
    }),
    unknownReferences: new Gauge({
      name: 'catalog_bot_scan_unknown_references',
      help: 'References for which the last scan got no clear answer',
      labelNames: ['repository'],
      registers,
    }),
    lastScan: new Gauge({
      name: 'catalog_bot_scan_last_finished_timestamp_seconds',
      help: 'When the last scan of all references of a repository ended',
      labelNames: ['repository'],
      registers,
    }),
    missingImageReports: new Counter({
      name: 'catalog_bot_scan_reports_total',
      help: 'What was done with the issue about missing images; refused: no permission, or issues are disabled',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
