// How a test or the demo registers and installs apps on the sandbox's GitHub, and changes what they may do.
import { randomBytes } from 'node:crypto'
import { RuleAdmin } from './branch-rules/rule-admin.ts'
import { createEmptyRateLimitUsage, createDefaultRateLimits } from './http/rate-limit-types.ts'
import { generatePrivateKey } from './github-admin.ts'
import { toInstallationView, toNodeId } from './views/account-view.ts'
import { getRepositoryFullName } from './views/repository-view.ts'
import { findAccountByLogin } from './github-data.ts'
import type {
  MockAccount,
  MockApp,
  Installation,
  GitHubPayload,
  AppPermissions,
  MockRepository,
} from './github-data.ts'

export interface NewAppOptions {
  readonly appId?: number
  readonly slug: string
  /** PEM; made when not given. */
  readonly privateKey?: string
  /** Null for an app without a hook. */
  readonly webhookSecret: string | null
  readonly events: readonly string[]
  readonly permissions: AppPermissions
  /** Where people who sign in with it may be sent back to. */
  readonly callbackUrls?: readonly string[]
  /** Where this app's webhooks go, unless to the sandbox's common target; null: nowhere. */
  readonly webhookTarget?: string | null
  /** Someone who has no other apps, unless said. */
  readonly owner?: MockAccount
}

export class AppAdmin extends RuleAdmin {
  /** Registers an app and installs it on these repositories (`owner/name`), with one installation for each owner. */
  installApp(
    app: NewAppOptions,
    repositories: readonly string[],
  ): { readonly app: MockApp; readonly installations: readonly Installation[] } {
    const registered = this.createApp(app)
    const repos = repositories.map((it) => this.repository(it))
    const owners = [...new Set(repos.map((it) => it.owner))]
    const installations = owners.map((owner) =>
      this.install(
        registered,
        owner,
        repos.filter((it) => it.owner === owner),
      ),
    )
    return { app: registered, installations }
  }

  createApp(given: NewAppOptions): MockApp {
    const { world } = this.state
    const id = given.appId ?? world.nextId()
    const bot = this.addAccount(`${given.slug}[bot]`, 'Bot')
    const owner = given.owner ?? findAccountByLogin(world, 'app-owner') ?? this.createUser('app-owner')
    const { slug, webhookSecret, events, permissions } = given
    const privateKey = given.privateKey ?? generatePrivateKey()
    const app: MockApp = {
      id,
      slug,
      owner,
      bot,
      privateKey,
      clientSecret: randomBytes(20).toString('hex'),
      callbackUrls: given.callbackUrls ?? [],
      webhookSecret,
      webhookTarget: given.webhookTarget,
      events,
      permissions,
      createdAt: world.timestamp(),
    }
    world.apps.set(id, app)
    return app
  }

  /** Someone agreed to an app's manifest in the browser: the code that GitHub sends back, good for one conversion. */
  acceptManifest(manifest: Omit<NewAppOptions, 'privateKey' | 'webhookSecret'>): string {
    const code = randomBytes(20).toString('hex')
    // An app without a hook has no secret.
    const webhookSecret = manifest.webhookTarget === null ? null : randomBytes(20).toString('hex')
    this.state.world.manifests.set(code, () => this.createApp({ ...manifest, webhookSecret }))
    return code
  }

  install(app: MockApp, account: MockAccount, repositories: readonly MockRepository[]): Installation {
    const { world, webhooks } = this.state
    const installation: Installation = {
      id: world.nextId(),
      app,
      account,
      repositories: new Set(repositories),
      permissions: { ...app.permissions },
      suspendedAt: null,
      createdAt: world.timestamp(),
      remaining: 0,
      resetsAt: 0,
      limits: createDefaultRateLimits(world.hourlyLimit),
      use: createEmptyRateLimitUsage(),
    }
    world.installations.set(installation.id, installation)
    webhooks.emitTo(
      installation,
      'installation',
      'created',
      account,
      this.#installed(installation, repositories),
    )
    return installation
  }

  #installed(installation: Installation, repositories: Iterable<MockRepository>): GitHubPayload {
    return {
      installation: toInstallationView(this.state.world, installation),
      repositories: [...repositories].map(toShortRepositoryView),
      requester: null,
    }
  }

  /** Adds and removes repositories of an installation. */
  changeInstallation(
    installation: Installation,
    added: readonly string[],
    removed: readonly string[] = [],
  ): void {
    const { world, webhooks } = this.state
    const view = (): GitHubPayload => ({
      installation: toInstallationView(world, installation),
      repository_selection: 'selected',
      requester: null,
    })
    const [more, less] = [added, removed].map((names) => names.map((it) => this.repository(it))) as [
      MockRepository[],
      MockRepository[],
    ]
    for (const repo of more) installation.repositories.add(repo)
    for (const repo of less) installation.repositories.delete(repo)
    const emitChange = (action: string): void =>
      webhooks.emitTo(installation, 'installation_repositories', action, installation.account, {
        ...view(),
        repositories_added: action === 'added' ? more.map(toShortRepositoryView) : [],
        repositories_removed: action === 'removed' ? less.map(toShortRepositoryView) : [],
      })
    if (more.length > 0) emitChange('added')
    if (less.length > 0) emitChange('removed')
  }

  uninstall(installation: Installation): void {
    const payload = this.#installed(installation, installation.repositories)
    this.state.world.installations.delete(installation.id)
    this.state.webhooks.emitTo(installation, 'installation', 'deleted', installation.account, payload)
  }

  suspend(installation: Installation, suspended = true): void {
    installation.suspendedAt = suspended ? this.state.world.timestamp() : null
    const payload = this.#installed(installation, installation.repositories)
    this.state.webhooks.emitTo(
      installation,
      'installation',
      suspended ? 'suspend' : 'unsuspend',
      installation.account,
      payload,
    )
  }

  /** Changes what an installation may do; tokens it holds already are bound by it too. */
  setPermissions(installation: Installation, permissions: AppPermissions): void {
    installation.permissions = permissions
    const payload = this.#installed(installation, installation.repositories)
    this.state.webhooks.emitTo(
      installation,
      'installation',
      'new_permissions_accepted',
      installation.account,
      payload,
    )
  }
}

function toShortRepositoryView(repo: MockRepository): GitHubPayload {
  return {
    id: repo.id,
    node_id: toNodeId('Repository', repo.id),
    name: repo.name,
    full_name: getRepositoryFullName(repo),
    private: repo.private,
  }
}
