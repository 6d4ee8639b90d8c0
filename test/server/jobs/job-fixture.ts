// The environment of a job in tests: the sandbox's GitHub with an App on it, a real store, and a folder for mirrors.
import { expect } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitHubApp } from '../../../src/adapters/github/github-app.ts'
import type { Store } from '../../../src/ports/store.ts'
import { startGitHubFixture, type GitHubFixture } from '../../sandbox/github/github-fixture.ts'
import { openPreparedStore } from '../../adapters/store/prepared-store.ts'
import { realTimeClock } from '../../adapters/store/sample-records.ts'
import { createTestGitHubApp } from '../../jobs/job-context.ts'

export interface JobFixture {
  readonly github: GitHubFixture
  readonly app: GitHubApp
  readonly store: Store
  readonly directory: string
  /** Fails if a request did not match GitHub's documentation. */
  close(): Promise<void>
}

export async function createJobFixture(): Promise<JobFixture> {
  const github = await startGitHubFixture({ validateTraffic: true })
  const app = createTestGitHubApp(github, realTimeClock)
  const store = await openPreparedStore({ clock: realTimeClock })
  const directory = await mkdtemp(join(tmpdir(), 'job-'))
  return {
    github,
    app,
    store,
    directory,
    async close() {
      await store.close()
      await github.stop()
      await rm(directory, { recursive: true, force: true })
      expect(github.github.violations).toEqual([])
    },
  }
}
