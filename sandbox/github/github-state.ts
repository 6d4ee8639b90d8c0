// The state that routes and user actions share: the data, the credentials, the webhooks, and one task queue per
// repository.
import type { IssuedTokenStore } from './http/auth.ts'
import type { ApiCaller } from './http/caller.ts'
import { GitHubApiError } from './http/route.ts'
import type { MockAccount, MockRepository, MockGitHubData } from './github-data.ts'
import type { WebhookDispatcher } from './webhooks.ts'

export class MockGitHubState {
  readonly world: MockGitHubData
  readonly credentials: IssuedTokenStore
  readonly webhooks: WebhookDispatcher
  /** Called after a change that a merge queue may wait for: a check, a ref, a pull request. */
  queueDue: (repo: MockRepository) => void = () => undefined
  readonly #lines = new WeakMap<MockRepository, Promise<unknown>>()
  readonly #work = new Set<Promise<unknown>>()

  constructor(world: MockGitHubData, credentials: IssuedTokenStore, webhooks: WebhookDispatcher) {
    this.world = world
    this.credentials = credentials
    this.webhooks = webhooks
  }

  /**
   * Runs `task` after all earlier tasks of the same network. Refs are compared before and after, so only one task
   * may move them.
   */
  async runSerialized<T>(repo: MockRepository, task: () => Promise<T>): Promise<T> {
    const root = repo.parent ?? repo
    const run = (this.#lines.get(root) ?? Promise.resolve()).then(task)
    const quiet = run.catch(() => undefined)
    this.#lines.set(root, quiet)
    return await run
  }

  /** Registers work that continues after an answer, so that shutdown can wait for it. */
  runInBackground(work: Promise<unknown>): void {
    const quiet = work.catch(() => undefined).finally(() => this.#work.delete(quiet))
    this.#work.add(quiet)
  }

  /** Resolves when no work is in progress: no computation after an answer, and no pending delivery. */
  async settled(): Promise<void> {
    do {
      await Promise.all(this.#work)
      await this.webhooks.settled()
    } while (this.#work.size > 0)
  }
}

/** The acting account. An installation acts as its app's bot account. */
export function getActingAccount(caller: ApiCaller): MockAccount {
  if (caller.kind === 'installation') return caller.installation.app.bot
  if (caller.kind === 'user') return caller.account
  throw new GitHubApiError(401, 'Requires authentication')
}
