// The form of the setup page and its App manifest, validated by rules that imitate those of GitHub.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { validateAppManifest } from '../../../sandbox/github/app-registration.ts'
import {
  buildAppManifest,
  parseSetupForm,
  formatAppRegistrationUrl,
} from '../../../src/web/setup/setup-page.ts'

const appManifest = parse(readFileSync('app.yml', 'utf8')) as Record<string, unknown>
const createSetupFormFields = (given: Record<string, string>) =>
  new URLSearchParams({ name: 'catalog-bot acme', ...given })
const callbackUrl = 'http://localhost:3000/setup/created'

function parseRequestedAppFromForm(given: Record<string, string>) {
  const form = parseSetupForm(createSetupFormFields(given), true)
  if ('problems' in form) throw new Error(JSON.stringify(form.problems))
  return form.registration
}

describe('the manifest', () => {
  test.each([
    ['with a public URL', { address: 'https://bot.acme.example.org/' }],
    ['without a public URL', {}],
    ['of an organization', { organization: 'acme' }],
  ])('%s is accepted by GitHub', (_name, given) => {
    expect(
      validateAppManifest(buildAppManifest(parseRequestedAppFromForm(given), appManifest, callbackUrl)),
    ).toEqual([])
  })
  test('contains the URLs that GitHub uses', () => {
    expect(
      buildAppManifest(
        parseRequestedAppFromForm({ address: 'https://bot.acme.io/b/' }),
        appManifest,
        callbackUrl,
      ),
    ).toMatchObject({
      name: 'catalog-bot acme',
      hook_attributes: { url: 'https://bot.acme.io/b/api/github/webhooks', active: true },
      default_events: appManifest['default_events'],
      redirect_url: callbackUrl,
    })
  })
  test('has no hook and no events if GitHub cannot reach the bot, but the same permissions', () => {
    const made = buildAppManifest(
      parseRequestedAppFromForm({}),
      { ...appManifest, hook_attributes: { url: 'https://left.example' } },
      callbackUrl,
    )
    expect(made).not.toHaveProperty('hook_attributes')
    expect(made).toMatchObject({
      default_events: [],
      default_permissions: appManifest['default_permissions'],
    })
  })
  test('is posted to the account that will own the App', () => {
    expect(
      formatAppRegistrationUrl(
        'https://github.com',
        parseRequestedAppFromForm({ organization: 'acme' }),
        'w',
      ),
    ).toBe('https://github.com/organizations/acme/settings/apps/new?state=w')
    expect(formatAppRegistrationUrl('https://ghe.acme.io', parseRequestedAppFromForm({}), 'w')).toBe(
      'https://ghe.acme.io/settings/apps/new?state=w',
    )
  })
})

describe("the imitation of GitHub's validation", () => {
  const good = buildAppManifest(
    parseRequestedAppFromForm({ address: 'https://bot.acme.io' }),
    appManifest,
    callbackUrl,
  )
  const permissions = appManifest['default_permissions'] as Record<string, string>
  test.each([
    [
      'an event without its permission',
      { default_permissions: { ...permissions, merge_queues: undefined } },
      'merge_group',
    ],
    [
      'an event that every App receives',
      { default_events: ['installation'] },
      'Default events unsupported: installation',
    ],
    [
      'a host that is not public',
      { hook_attributes: { url: 'http://localhost:3000/x' } },
      "isn't reachable over the public",
    ],
    ['an inactive hook without an address', { hook_attributes: { active: false } }, `"url" wasn't supplied`],
    [
      'a webhook secret',
      { hook_attributes: { url: 'https://bot.acme.io', secret: 'x' } },
      '"secret" is not a permitted key',
    ],
    ['a long name', { name: 'n'.repeat(35) }, 'maximum is 34'],
  ])('rejects %s', (_name, change, message) => {
    expect(validateAppManifest({ ...good, ...change }).join('\n')).toContain(message)
  })
})

describe('the form', () => {
  const problemsOf = (given: Record<string, string>, isHosted = true) => {
    const form = parseSetupForm(createSetupFormFields(given), isHosted)
    return 'problems' in form ? Object.keys(form.problems) : []
  }
  test.each([
    'http://localhost:3000',
    'https://bot',
    'https://bot.local',
    'https://127.0.0.1',
    'https://10.1.2.3',
    'https://172.20.0.1',
    'https://[::1]',
    'https://[fd00::1]',
    'https://[::ffff:10.0.0.1]',
    'https://0x7f.1',
    'https://bot.internal.',
    'bot.acme.io',
    'ftp://bot.acme.io',
    'https://user:word@bot.acme.io',
    'https://bot.acme.io/?a=b',
  ])('rejects %s because GitHub cannot reach it', (address) => {
    expect(problemsOf({ address })).toEqual(['address'])
  })
  test.each([
    'https://bot.acme.io',
    'https://8.8.8.8',
    'https://[2606:4700::1111]',
    'http://bot.acme.io:8080/x',
  ])('accepts %s', (address) => expect(problemsOf({ address })).toEqual([]))
  test('allows an enterprise server to reach internal addresses', () => {
    expect(problemsOf({ address: 'http://bot.corp' }, false)).toEqual([])
  })
  test.each(['a b', '-a', 'a--b', 'a/b', '"><script>', 'ä'])(
    'rejects %s as an organization',
    (organization) => {
      expect(problemsOf({ organization })).toEqual(['organization'])
    },
  )
  test.each(['', '   ', '!!!', 'n'.repeat(35)])('rejects %j as a name', (name) => {
    expect(problemsOf({ name })).toEqual(['name'])
  })
  test.each([
    ['acme', 'catalog-bot acme'],
    ['a'.repeat(39), `catalog-bot ${'a'.repeat(22)}`],
  ])('without a name uses the name of the organization %s', (organization, name) => {
    expect(parseRequestedAppFromForm({ organization, name: '' }).name).toBe(name)
  })
})
