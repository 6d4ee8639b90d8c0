import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectoryEdgeToNowhere = defineRule<{ name: string; replaced: string; itself: boolean }>({
  id: 'bundle-directory-edge-to-nowhere',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle replaces one that exists',
  format: ({ name, replaced, itself }) => ({
    what: itself
      ? `${name} replaces itself`
      : `${name} replaces ${replaced}, which neither a directory of the package nor its catalogs have`,
    why: 'Those who installed the earlier version get no update: nothing leads from it to this bundle.',
    fix: 'Name the bundle that comes before this one, letter by letter.',
  }),
})
