// What a job is tried on: the sandbox's GitHub with an App on it, a real store, and a folder for mirrors.
import { expect } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openGitHubApp, type GitHubApp } from '../../../src/github/github-app.ts'
import type { Store } from '../../../src/ports/store.ts'
import { furnish, privateKey, secret, type Furnished } from '../../sandbox/github/sample-world.ts'
import { openMadeStore } from '../../store/made-store.ts'
import { clock } from '../../store/sample-records.ts'

export interface JobGround {
  readonly it: Furnished
  readonly app: GitHubApp
  readonly store: Store
  readonly directory: string
  /** Fails where something was asked of GitHub that it does not have. */
  close(): Promise<void>
}

export async function openJobGround(): Promise<JobGround> {
  const it = await furnish({ validateTraffic: true })
  const app = openGitHubApp({
    appId: it.app.id,
    privateKey,
    webhookSecret: secret,
    apiUrl: it.github.url,
    throttle: false,
    clock,
    log: pino({ level: 'silent' }),
  })
  const store = await openMadeStore({ clock })
  const directory = await mkdtemp(join(tmpdir(), 'job-'))
  return {
    it,
    app,
    store,
    directory,
    async close() {
      await store.close()
      await it.stop()
      await rm(directory, { recursive: true, force: true })
      expect(it.github.violations).toEqual([])
    },
  }
}
