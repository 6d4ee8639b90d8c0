// Runs the install tests of a package one at a time, because CRDs are cluster-scoped. Retries infrastructure failures
// twice.
import { defaultClusterTestDeadlines } from '../../checks/install/cluster-test/cluster-test-state.ts'
import type {
  ClusterTestPlan,
  PlannedClusterTest,
} from '../../checks/install/cluster-test/cluster-test-plan.ts'
import { isRetryableOutcome } from '../../checks/install/cluster-test/cluster-test-outcome.ts'
import type { ClusterTestReport } from '../../checks/install/cluster-test/cluster-test-report.ts'
import { completeClusterTestPlan, type ClusterTestEnvironment } from './complete-test-plan.ts'
import { runClusterTest, type ClusterTestOptions } from './run-cluster-test.ts'

export interface RunClusterTestsOptions extends ClusterTestOptions {
  readonly environment: ClusterTestEnvironment
  readonly onTrial?: (planned: PlannedClusterTest, attempt: number) => void
  readonly tries?: number
  /** Called before an attempt creates anything, so that a later process can find its objects. */
  readonly onPlan?: (plan: ClusterTestPlan) => Promise<void>
}

const defaultMaxTestAttempts = 3

export async function runClusterTests(
  tests: readonly PlannedClusterTest[],
  options: RunClusterTestsOptions,
): Promise<readonly ClusterTestReport[]> {
  const reports: ClusterTestReport[] = []
  for (const planned of tests) {
    if (options.signal?.aborted === true) break
    reports.push(await runClusterTestWithRetries(planned, options))
  }
  return reports
}

async function runClusterTestWithRetries(
  planned: PlannedClusterTest,
  options: RunClusterTestsOptions,
): Promise<ClusterTestReport> {
  const {
    clock,
    deadlines = defaultClusterTestDeadlines,
    tries = defaultMaxTestAttempts,
    environment,
    onTrial,
    onPlan,
  } = options
  for (let attempt = 1; ; attempt++) {
    onTrial?.(planned, attempt)
    const plan = completeClusterTestPlan(planned, environment, deadlines, clock.now())
    await onPlan?.(plan)
    const report = await runClusterTest(plan, options)
    const isOver = attempt >= tries || !isRetryableOutcome(report.outcome) || options.signal?.aborted === true
    // Remaining objects would interfere with the next attempt.
    if (isOver || report.leftovers.length > 0) return report
  }
}
