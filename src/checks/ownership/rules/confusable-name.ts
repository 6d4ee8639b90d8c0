import { defineRule } from '@catalog-bot/findings/rule'

export const confusableName = defineRule<{ path: string; name: string; like: string }>({
  id: 'confusable-name',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A new name is easy to distinguish from existing names',
  format: ({ path, name, like }) => ({
    what: `${path} adds the name ${JSON.stringify(name)}, which looks too similar to ${JSON.stringify(like)}`,
    why: 'Users might install the wrong package, and on some file systems one path overwrites the other.',
    fix: 'Choose a name that differs in more than case, separators, or look-alike letters.',
  }),
})
