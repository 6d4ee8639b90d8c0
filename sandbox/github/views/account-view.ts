// Accounts, apps, installations and teams as GitHub's REST answers and webhooks show them.
import type {
  MockAccount,
  MockApp,
  Installation,
  GitHubPayload,
  AppPermissions,
  Team,
} from '../github-data.ts'

/** GitHub's opaque ID of an object. It is unique, and clients must not parse it. */
export function toNodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64')
}

/** The input of `toNodeId`, or undefined for another kind of object. */
export function parseNodeId(kind: string, node: unknown): string | undefined {
  const [found, id] = Buffer.from(typeof node === 'string' ? node : '', 'base64')
    .toString()
    .split(/:(.*)/s)
  return found === kind ? id : undefined
}

/** An account, or null if it was deleted ("ghost"). */
export function toAccountView(account: MockAccount): GitHubPayload | null {
  return account.deleted ? null : toNonNullAccountView(account)
}

function toNonNullAccountView(account: MockAccount): GitHubPayload {
  const { github } = account
  const { id, login, type } = account
  const url = `${github.base}/users/${encodeURIComponent(login)}`
  return {
    login,
    id,
    node_id: toNodeId(type, id),
    avatar_url: `${github.base}/avatars/u/${id}`,
    gravatar_id: '',
    url,
    html_url: `${github.base}/${type === 'Bot' ? `apps/${login.replace('[bot]', '')}` : login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type,
    user_view_type: 'public',
    site_admin: false,
  }
}

/** The additional fields of `GET /users/{username}`: the profile. */
export function toProfileView(account: MockAccount): GitHubPayload {
  const repositories = [...account.github.repos].filter(
    (it) => it.owner === account && !it.private && !it.deleted,
  )
  return {
    ...toNonNullAccountView(account),
    name: null,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: repositories.length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.createdAt,
    updated_at: account.createdAt,
  }
}

export function toOrganizationView(account: MockAccount): GitHubPayload {
  const { github } = account
  const url = `${github.base}/orgs/${account.login}`
  return {
    login: account.login,
    id: account.id,
    node_id: toNodeId('Organization', account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${github.base}/avatars/u/${account.id}`,
    description: null,
  }
}

export function toTeamView(team: Team): GitHubPayload {
  const { github } = team.organization
  const url = `${github.base}/organizations/${team.organization.id}/team/${team.id}`
  return {
    id: team.id,
    node_id: toNodeId('Team', team.id),
    name: team.slug,
    slug: team.slug,
    description: null,
    privacy: 'closed',
    notification_setting: 'notifications_enabled',
    permission: 'pull',
    type: 'organization',
    organization_id: team.organization.id,
    url,
    html_url: `${github.base}/orgs/${team.organization.login}/teams/${team.slug}`,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    parent: null,
  }
}

/** The additional fields of `GET /orgs/{org}/teams/{team_slug}`. */
export function toFullTeamView(team: Team): GitHubPayload {
  const { github } = team.organization
  const { organization, members } = team
  const repositories = [...github.repos].filter((it) => it.owner === organization && !it.deleted)
  return {
    ...toTeamView(team),
    members_count: members.size,
    repos_count: repositories.filter((it) => it.teamRoles.has(team.id)).length,
    created_at: organization.createdAt,
    updated_at: organization.createdAt,
    organization: {
      ...toOrganizationView(organization),
      html_url: `${github.base}/${organization.login}`,
      has_organization_projects: true,
      has_repository_projects: true,
      public_repos: repositories.filter((it) => !it.private).length,
      public_gists: 0,
      followers: 0,
      following: 0,
      type: 'Organization',
      created_at: organization.createdAt,
      updated_at: organization.createdAt,
      archived_at: null,
    },
  }
}

export function toAppView(app: MockApp): GitHubPayload {
  const { github } = app.owner
  return {
    id: app.id,
    client_id: `Iv1.${app.id}`,
    slug: app.slug,
    node_id: toNodeId('App', app.id),
    owner: toNonNullAccountView(app.owner),
    name: app.slug,
    description: '',
    external_url: `${github.base}/apps/${app.slug}`,
    html_url: `${github.base}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: toPermissionsView(app.permissions),
    events: app.events,
  }
}

export function toInstallationView(installation: Installation): GitHubPayload {
  const { github } = installation.account
  const { id, app, account } = installation
  return {
    id,
    account: toNonNullAccountView(account),
    repository_selection: 'selected',
    access_tokens_url: `${github.base}/app/installations/${id}/access_tokens`,
    repositories_url: `${github.base}/installation/repositories`,
    html_url: `${github.base}/settings/installations/${id}`,
    app_id: app.id,
    client_id: `Iv1.${app.id}`,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: toPermissionsView(installation.permissions),
    events: app.events,
    created_at: installation.createdAt,
    updated_at: installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspendedAt,
  }
}

export function toPermissionsView(permissions: AppPermissions): AppPermissions {
  return { ...permissions, metadata: 'read' }
}
