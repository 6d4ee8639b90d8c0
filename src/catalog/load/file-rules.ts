// Problems with a file that show before it is read.
import { defineRule } from '../../findings/rule.ts'

export const fileUnreadable = defineRule<{ error: string }>({
  id: 'file-unreadable',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every file of the catalog can be opened',
  format: ({ error }) => ({
    what: `the file cannot be read: ${error}`,
    why: 'opm opens every file that is not ignored, and loads no catalog when one of them fails.',
    fix: 'Remove it, repair the link, or name it in .indexignore.',
  }),
})

export const linkLeadsOut = defineRule<object>({
  id: 'link-leads-out',
  check: 'validation',
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'No symbolic link leads out of the catalog',
  format: () => ({
    what: 'the file is a symbolic link to somewhere outside the catalog',
    why: 'opm follows it on the machine where it runs: what it reads there is not what was reviewed here.',
    fix: 'Put the content itself in its place.',
  }),
})
