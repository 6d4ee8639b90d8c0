// Rules about opening a file, before any of it is parsed.
import { defineRule } from '@catalog-bot/findings/rule'
import { defineOpmRule } from './load-rules.ts'

export const fileUnreadableRule = defineOpmRule<{ error: string }>({
  id: 'file-unreadable',
  title: 'Every file in the catalog is readable',
  what: ({ error }) => `the file cannot be read: ${error}`,
  why: 'opm opens every file that is not ignored, and rejects the entire catalog if any of these files cannot be read.',
  fix: 'Remove the file, fix the link, or list the file in .indexignore.',
})

export const linkLeadsOutRule = defineRule<object>({
  id: 'link-leads-out',
  check: 'validation',
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Symbolic links point to files inside the catalog',
  what: 'the file is a symbolic link to a location outside the catalog',
  why: 'opm follows the link on the machine where it runs, so it might not read the content that was reviewed.',
  fix: 'Replace the link with the content of its target.',
})
