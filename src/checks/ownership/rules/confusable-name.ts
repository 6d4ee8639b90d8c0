import { defineRule } from '../../../findings/rule.ts'

export const confusableName = defineRule<{ path: string; name: string; like: string }>({
  id: 'confusable-name',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A new name cannot be taken for one that exists',
  format: ({ path, name, like }) => ({
    what: `${path} brings the name ${JSON.stringify(name)}, which can be taken for ${JSON.stringify(like)}`,
    why: 'People install by name: one that looks like another gets the other one’s trust, or hides it on some systems.',
    fix: 'Choose a name that differs in more than case, separators or look-alike letters.',
  }),
})
