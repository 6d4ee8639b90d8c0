// Reads and checks the setup form, and builds the App's manifest. GitHub rejects a manifest for one wrong field with
// little explanation.
import { isPublicHost } from '../../registry/transport/public-host.ts'

export interface WantedApp {
  /** An organization's login; undefined for a personal App. */
  readonly organization: string | undefined
  readonly name: string
  /** Where GitHub reaches the bot, without a trailing slash; undefined if unreachable, so only sweeps run. */
  readonly address: string | undefined
}

export type Field = 'organization' | 'name' | 'address'

export type ReadForm =
  { readonly wanted: WantedApp } | { readonly problems: Readonly<Partial<Record<Field, string>>> }

/** GitHub's limit. */
const longestName = 34

/** `isHosted`: the App is on GitHub.com, which sends webhooks only to public addresses. */
export function readForm(fields: URLSearchParams, isHosted: boolean): ReadForm {
  const [organization, given, address] = ['organization', 'name', 'address'].map((field) =>
    (fields.get(field) ?? '').trim(),
  ) as [string, string, string]
  const problems: Partial<Record<Field, string>> = {}
  if (organization !== '' && !/^[a-z\d](?:-?[a-z\d])*$/i.test(organization))
    problems.organization = 'This is not the name of an organization: letters, digits and single hyphens.'
  const name = given === '' && organization !== '' ? suggestedName(organization) : given
  if (name === '') problems.name = 'The App needs a name.'
  else if (name.length > longestName)
    problems.name = `GitHub takes at most ${longestName} characters; these are ${name.length}.`
  else if (!/[\p{L}\p{N}]/u.test(name)) problems.name = 'The name needs a letter or a digit.'
  const wrong = address === '' ? undefined : addressProblem(address, isHosted)
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
function suggestedName(organization: string): string {
  return `catalog-bot ${organization}`.slice(0, longestName)
}

function addressProblem(address: string, isHosted: boolean): string | undefined {
  if (!URL.canParse(address)) return 'This is not an address. It begins with https://.'
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'The address must begin with https://.'
  if (username !== '' || password !== '') return 'Leave the user and the password out of the address.'
  if (search !== '' || hash !== '') return 'Leave out what stands behind ? or #.'
  if (isHosted && (!isPublicHost(hostname) || reserved.test(hostname)))
    return `GitHub cannot reach ${hostname}: give an address on the public internet, or none.`
  return undefined
}

// RFC 2606 reserves these names.
const reserved = /\.(?:test|example|invalid)\.?$/i

/**
 * Omits the hook and events if there is no address: GitHub requires one with `hook_attributes`, even for a hook that is
 * off.
 */
export function manifestFor(
  { name, address }: WantedApp,
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
          hook_attributes: { url: hookOf(address), active: true },
          default_events: events,
          callback_urls: [backOf(address)],
        }),
  }
}

/** The OAuth callback: see app/pages/sign-in.ts. */
const backOf = (address: string): string => `${address}/sign-in/back`

export const hookOf = (address: string): string => `${address}/api/github/webhooks`

export function registrationUrl(gitUrl: string, { organization }: WantedApp, state: string): string {
  const owner = organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}`
  return `${gitUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`
}
