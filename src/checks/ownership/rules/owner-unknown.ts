import type { Rule } from '../../../findings/rule.ts'

export const ownerUnknown: Rule<{ path: string; login: string }> = {
  id: 'owner-unknown',
  check: 'ownership',
  severity: 'error',
  title: 'Every new owner has an account',
  say: ({ path, login }) => ({
    what: `${path} makes ${login} an owner, but GitHub has no such account`,
    why: 'Whoever registers a listed login later would own the package.',
    fix: 'Correct the login, or leave it out.',
  }),
}
