// Sets up the sandbox's GitHub for a test or the demo: users, organizations, repositories, protection.
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { commitFiles, createBareRepository, readFilesRecursively, setRef } from './git/git-store.ts'
import type { FileChangesByPath, GitIdentity } from './git/git-store.ts'
import type { IssuedTokenStore } from './http/auth.ts'
import { processRefChanges } from './git/ref-changes.ts'
import { findAccountByLogin, findRepositoryByName } from './github-data.ts'
import type {
  MockAccount,
  MockGitHubData,
  Installation,
  MockPull,
  MockRepository,
  CollaboratorRole,
  Team,
  Workflow,
  SimulatedWorkflowOutcome,
  AppPermissions,
} from './github-data.ts'

export interface CreateRepositoryOptions {
  readonly files?: FileChangesByPath
  readonly fromDirectory?: string
  readonly defaultBranch?: string
  readonly private?: boolean
}

export class GitHubAdmin {
  protected readonly state: MockGitHubData
  readonly #credentials: IssuedTokenStore

  constructor(state: MockGitHubData, credentials: IssuedTokenStore) {
    this.state = state
    this.#credentials = credentials
  }

  createUser(login: string): MockAccount {
    return this.addAccount(login, 'User')
  }

  /** An organization with these logins as owners, who are administrators of all its repositories. */
  createOrganization(login: string, owners: readonly string[] = []): MockAccount {
    const organization = this.addAccount(login, 'Organization')
    this.state.organizationOwners.set(organization.id, new Set(owners.map((it) => this.account(it).id)))
    return organization
  }

  protected addAccount(login: string, type: MockAccount['type']): MockAccount {
    const { state } = this
    if (findAccountByLogin(state, login) !== undefined) throw new Error(`the account ${login} already exists`)
    const account: MockAccount = {
      github: state,
      id: state.nextId(),
      login,
      type,
      createdAt: state.timestamp(),
      deleted: false,
    }
    state.accounts.set(account.id, account)
    return account
  }

  createTeam(organization: string, slug: string, members: readonly string[] = []): Team {
    const { state } = this
    const team: Team = {
      id: state.nextId(),
      organization: this.account(organization),
      slug,
      members: new Map(),
    }
    state.teams.push(team)
    for (const login of members) this.addMember(team, login)
    return team
  }

  addMember(
    team: Team,
    login: string,
    role: 'member' | 'maintainer' = 'member',
    state: 'active' | 'pending' = 'active',
  ): void {
    team.members.set(this.account(login).id, { role, state })
  }

  /** The account with a login. Throws if it does not exist. */
  account(login: string): MockAccount {
    const account = findAccountByLogin(this.state, login)
    if (account === undefined) throw new Error(`the account ${login} does not exist`)
    return account
  }

  /** A repository by `owner/name`. Throws if it does not exist. */
  repository(name: string): MockRepository {
    const [owner = '', short = ''] = name.split('/')
    const repo = findRepositoryByName(this.state, owner, short)
    if (repo === undefined) throw new Error(`the repository ${name} does not exist`)
    return repo
  }

  pull(repository: string, number: number): MockPull {
    const pull = this.repository(repository).pulls.get(number)
    if (pull === undefined) throw new Error(`the pull request ${repository}#${number} does not exist`)
    return pull
  }

  /** Changes a login. Anyone can then take the old login, but never the ID. */
  renameUser(login: string, to: string): void {
    this.account(login).login = to
  }

  deleteUser(login: string): void {
    this.account(login).deleted = true
  }

  /** A user's personal access token, for their Git or API client. */
  tokenFor(login: string): string {
    return this.#credentials.personalToken(this.account(login))
  }

  /** An App's token for one repository, like the token of a workflow. */
  installationTokenFor(repository: string, permissions: AppPermissions): string {
    const repo = this.repository(repository)
    return this.#credentials.installationToken(this.installationOn(repository), new Set([repo]), {
      ...permissions,
      metadata: 'read',
    }).token
  }

  /** The token of the first App that is installed there. */
  installationOn(repository: string): Installation {
    const repo = this.repository(repository)
    const installation = [...this.state.installations.values()].find((it) => it.repositories.has(repo))
    if (installation === undefined) throw new Error(`no App is installed on ${repository}`)
    return installation
  }

  /** Creates a repository with one initial commit of these files, as a real bare repository on disk. */
  async createRepository(
    owner: string,
    name: string,
    { files, fromDirectory, defaultBranch = 'main', ...more }: CreateRepositoryOptions = {},
  ): Promise<MockRepository> {
    const account = this.account(owner)
    const repo = this.addRepo(account, name, defaultBranch, null, more.private ?? false)
    await createBareRepository(repo.path, defaultBranch)
    const content =
      files ??
      (fromDirectory === undefined
        ? { 'README.md': `# ${name}\n` }
        : await readFilesRecursively(fromDirectory))
    const sha = await commitFiles(repo.path, undefined, content, 'First commit', this.signature(account))
    await setRef(repo.path, `refs/heads/${defaultBranch}`, sha)
    await this.state.runSerialized(repo, () => processRefChanges(repo, account))
    return repo
  }

  protected addRepo(
    owner: MockAccount,
    name: string,
    defaultBranch: string,
    parent: MockRepository | null,
    isPrivate: boolean,
  ): MockRepository {
    const { state } = this
    if (findRepositoryByName(state, owner.login, name) !== undefined)
      throw new Error(`the repository ${owner.login}/${name} already exists`)
    const id = state.nextId()
    const at = state.timestamp()
    const repo: MockRepository = {
      github: state,
      id,
      owner,
      name,
      path: join(state.directory, `${id}.git`),
      defaultBranch,
      private: isPrivate,
      parent,
      deleted: false,
      archived: false,
      roles: new Map(),
      teamRoles: new Map(),
      pulls: new Map(),
      issues: new Map(),
      hasIssues: true,
      nextNumber: 1,
      labels: new Map(),
      suites: [],
      statuses: [],
      deployments: [],
      analyses: [],
      workflows: [],
      runs: [],
      rulesets: new Map(),
      protections: new Map(),
      mergeMethods: { merge: true, squash: true, rebase: true },
      queues: new Map(),
      knownRefs: new Map(),
      createdAt: at,
      pushedAt: at,
    }
    state.repos.add(repo)
    return repo
  }

  protected signature(account: MockAccount): GitIdentity {
    const email = `${account.id}+${account.login}@users.noreply.github.invalid`
    return { name: account.login, email, at: this.state.now() }
  }

  /** Gives a user a role in a repository. Null removes it. */
  setRole(repository: string, login: string, role: CollaboratorRole | null): void {
    const { roles } = this.repository(repository)
    if (role === null) roles.delete(this.account(login).id)
    else roles.set(this.account(login).id, role)
  }

  setTeamRole(repository: string, team: Team, role: CollaboratorRole | null): void {
    const { teamRoles } = this.repository(repository)
    if (role === null) teamRoles.delete(team.id)
    else teamRoles.set(team.id, role)
  }

  /** A workflow whose dispatched runs end with `outcome` after this many milliseconds. */
  createWorkflow(
    repository: string,
    file: string,
    {
      outcome = 'success',
      milliseconds = 50,
      dispatchTypes = [],
    }: { outcome?: SimulatedWorkflowOutcome; milliseconds?: number; dispatchTypes?: readonly string[] } = {},
  ): Workflow {
    const workflow: Workflow = {
      id: this.state.nextId(),
      file,
      name: file.replace(/\.ya?ml$/, ''),
      outcome,
      milliseconds,
      dispatchTypes,
    }
    this.repository(repository).workflows.push(workflow)
    return workflow
  }

  /** Enables or disables a repository's issues. */
  setIssues(repository: string, on: boolean): void {
    this.repository(repository).hasIssues = on
  }

  /** https://docs.github.com/webhooks/webhook-events-and-payloads#repository */
  archive(repository: string, archived = true): void {
    const repo = this.repository(repository)
    repo.archived = archived
    this.state.webhooks.emit('repository', archived ? 'archived' : 'unarchived', repo, repo.owner, {})
  }
}

/** A PEM for an app in a test that does not depend on the key. */
export function generatePrivateKey(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
}
