import { defineRule } from '../../../findings/rule.ts'

export const ownerLoginReused = defineRule<{ package: string; login: string; was: number; now: number }>({
  id: 'owner-login-reused',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A listed login still belongs to the account it was listed for',
  format: ({ package: name, login, was, now }) => ({
    what: `${login}, listed as owner of ${name}, was account ${was} and is account ${now} now`,
    why: 'Logins can be renamed and registered again by others; rights belong to the account.',
    fix: 'Maintainers decide on this package until they have corrected its list of owners.',
  }),
})
