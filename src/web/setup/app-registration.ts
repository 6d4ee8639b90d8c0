// Reads and checks the setup form, and builds the App's manifest. GitHub rejects a manifest for one wrong field with
// little explanation.
import { isPublicHost } from '../../adapters/registry/transport/public-host.ts'

export interface AppRegistration {
  /** An organization's login; undefined for a personal App. */
  readonly organization: string | undefined
  readonly name: string
  /** Where GitHub reaches the bot, without a trailing slash; undefined if unreachable, so only sweeps run. */
  readonly address: string | undefined
}

export type SetupFormField = 'organization' | 'name' | 'address'

export type SetupFormResult =
  | { readonly wanted: AppRegistration }
  | { readonly problems: Readonly<Partial<Record<SetupFormField, string>>> }

/** GitHub's limit. */
const maxAppNameLength = 34

/** `isHosted`: the App is on GitHub.com, which sends webhooks only to public addresses. */
export function parseSetupForm(fields: URLSearchParams, isHosted: boolean): SetupFormResult {
  const [organization, given, address] = ['organization', 'name', 'address'].map((field) =>
    (fields.get(field) ?? '').trim(),
  ) as [string, string, string]
  const problems: Partial<Record<SetupFormField, string>> = {}
  if (organization !== '' && !/^[a-z\d](?:-?[a-z\d])*$/i.test(organization))
    problems.organization =
      'Enter a valid organization name. It can contain only letters, digits, and single hyphens.'
  const name = given === '' && organization !== '' ? suggestAppName(organization) : given
  if (name === '') problems.name = 'Enter a name for the App.'
  else if (name.length > maxAppNameLength)
    problems.name = `GitHub allows at most ${maxAppNameLength} characters; this name has ${name.length}.`
  else if (!/[\p{L}\p{N}]/u.test(name)) problems.name = 'The name must contain a letter or digit.'
  const wrong = address === '' ? undefined : findUrlProblem(address, isHosted)
  if (wrong !== undefined) problems.address = wrong
  if (Object.keys(problems).length > 0) return { problems }
  return {
    wanted: {
      organization: organization === '' ? undefined : organization,
      name,
      address: address === '' ? undefined : address.replace(/\/+$/, ''),
    },
  }
}

/** A name that is probably free: names are unique across GitHub. */
function suggestAppName(organization: string): string {
  return `catalog-bot ${organization}`.slice(0, maxAppNameLength)
}

function findUrlProblem(address: string, isHosted: boolean): string | undefined {
  if (!URL.canParse(address)) return 'Enter a valid URL that starts with https://.'
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'The URL must start with https://.'
  if (username !== '' || password !== '') return 'Remove the user name and password from the URL.'
  if (search !== '' || hash !== '')
    return 'Remove the query (after ?) and the fragment (after #) from the URL.'
  if (isHosted && (!isPublicHost(hostname) || reservedDomainPattern.test(hostname)))
    return `GitHub cannot reach ${hostname}. Enter a URL on the public internet, or leave this field empty.`
  return undefined
}

// RFC 2606 reserves these names.
const reservedDomainPattern = /\.(?:test|example|invalid)\.?$/i

/**
 * Omits the hook and events if there is no address: GitHub requires one with `hook_attributes`, even for a hook that is
 * off.
 */
export function buildAppManifest(
  { name, address }: AppRegistration,
  manifest: Readonly<Record<string, unknown>>,
  redirectUrl: string,
): Readonly<Record<string, unknown>> {
  const { default_events: events, hook_attributes: _, ...rest } = manifest
  return {
    ...rest,
    name,
    redirect_url: redirectUrl,
    ...(address === undefined
      ? { default_events: [] }
      : {
          hook_attributes: { url: formatWebhookUrl(address), active: true },
          default_events: events,
          callback_urls: [formatCallbackUrl(address)],
        }),
  }
}

/** The OAuth callback: see web/server/sign-in.ts. */
const formatCallbackUrl = (address: string): string => `${address}/sign-in/back`

export const formatWebhookUrl = (address: string): string => `${address}/api/github/webhooks`

export function formatRegistrationUrl(
  gitUrl: string,
  { organization }: AppRegistration,
  state: string,
): string {
  const owner = organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}`
  return `${gitUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`
}
