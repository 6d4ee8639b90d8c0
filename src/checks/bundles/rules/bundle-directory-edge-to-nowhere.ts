import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryEdgeToNowhere = defineRule<{ name: string; replaced: string; itself: boolean }>({
  id: 'bundle-directory-edge-to-nowhere',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle replaces another existing bundle',
  format: ({ name, replaced, itself }) => ({
    what: itself
      ? `${name} replaces itself`
      : `${name} replaces ${replaced}, which exists neither in the package's directories nor in its catalogs`,
    why: "Users of the earlier version don't get an update, because no upgrade edge leads to this bundle.",
    fix: 'Set `replaces` to the exact name of the previous bundle.',
  }),
})
