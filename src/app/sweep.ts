// The sweep: every open pull request and every base branch is looked at every few minutes, with no webhook at all.
// Webhooks only make it sooner (T41); what the sweep finds is the truth.
import type { Job } from '../ports/store.ts'
import type { InstalledRepository } from '../github/github-app.ts'
import type { Workplace } from './workplace.ts'

/** One repository: a duty for each open pull request, and for the branches that they and the catalogs stand on. */
export async function sweepRepository(
  job: Extract<Job, { kind: 'sweep' }>,
  { app, forge }: Workplace,
): Promise<void> {
  const about = { installation: job.installation, repository: job.repository }
  await app.store.enqueue({ kind: 'branch', ...about, branch: await forge.defaultBranch() })
  for (const pull of await forge.openPulls()) await app.store.enqueue({ kind: 'pull', ...about, pull })
}

export interface SweeperOptions {
  readonly installed: () => Promise<readonly InstalledRepository[]>
  readonly app: Workplace['app']
}

/** Sweeps all repositories at once and then every `sweepSeconds`, until stopped. A failure waits for the next round. */
export function startSweeper({ installed, app }: SweeperOptions): { stop(): Promise<void> } {
  const ending = new AbortController()
  const loop = async () => {
    while (!ending.signal.aborted) {
      try {
        const repositories = await installed()
        for (const { installation, repository } of repositories)
          await app.store.enqueue({ kind: 'sweep', installation, repository })
        app.log.debug({ repositories: repositories.length }, 'sweep')
      } catch (error) {
        app.log.warn({ err: error }, 'the sweep could not list the repositories; it tries again')
      }
      await app.clock.sleep(app.settings.sweepSeconds * 1000, ending.signal)
    }
  }
  const running = loop()
  return {
    async stop() {
      ending.abort()
      await running
    },
  }
}
