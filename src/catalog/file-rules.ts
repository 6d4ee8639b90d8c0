// What can be wrong with a file before its bytes are read.
import type { Rule } from '../findings/rule.ts'

export const fileUnreadable: Rule<{ error: string }> = {
  id: 'file-unreadable',
  check: 'validation',
  severity: 'error',
  title: 'Every file of the catalog can be opened',
  say: ({ error }) => ({
    what: `the file cannot be read: ${error}`,
    why: 'opm opens every file that is not ignored, and loads no catalog when one of them fails.',
    fix: 'Remove it, mend the link, or name it in .indexignore.',
  }),
}

export const linkLeadsOut: Rule<object> = {
  id: 'link-leads-out',
  check: 'validation',
  severity: 'warning',
  title: 'No symbolic link leads out of the catalog',
  say: () => ({
    what: 'the file is a symbolic link to somewhere outside the catalog',
    why: 'opm follows it on the machine where it runs: what it reads there is not what was reviewed here.',
    fix: 'Put the content itself in its place.',
  }),
}

export const fileRules = [fileUnreadable, linkLeadsOut] as const
