import { defineRule } from '@catalog-bot/findings/rule'

export const unknownOwner = defineRule<{ path: string; login: string }>({
  id: 'owner-unknown',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every new owner has a GitHub account',
  format: ({ path, login }) => ({
    what: `${path} makes ${login} an owner, but GitHub has no such account`,
    why: 'If another person registers this login later, they would own the package.',
    fix: 'Correct the login, or remove it.',
  }),
})
