import { defineRule } from '../../../findings/rule.ts'

export const unknownOwner = defineRule<{ path: string; login: string }>({
  id: 'owner-unknown',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every new owner has an account',
  format: ({ path, login }) => ({
    what: `${path} makes ${login} an owner, but GitHub has no such account`,
    why: 'Whoever registers a listed login later would own the package.',
    fix: 'Correct the login, or leave it out.',
  }),
})
