import { defineRule } from '@catalog-bot/findings/rule'

export const ownerLoginReused = defineRule<{ package: string; login: string; was: number; now: number }>({
  id: 'owner-login-reused',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A listed login still belongs to the same account',
  format: ({ package: name, login, was, now }) => ({
    what: `the login ${login}, an owner of ${name}, belonged to account ${was} and now belongs to account ${now}`,
    why: 'After an account is renamed, another person can register its old login and would gain its permissions.',
    fix: 'Ask a maintainer to correct the list of owners. Until then, only maintainers can approve changes to this package.',
  }),
})
