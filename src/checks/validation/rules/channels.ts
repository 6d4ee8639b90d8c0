// A channel whose head is older than another entry. Subscribers get the older version.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { findBundleNewerThanHead } from '../view/highest-entry.ts'

export const headNotHighest = defineRule<
  {
    channel: string
    head: string
    headVersion: string
    highest: string
    highestVersion: string
  },
  CatalogRuleSignature
>({
  id: 'head-not-highest',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: "A channel's head is the highest version in the channel",
  format: ({ channel, head, headVersion, highest, highestVersion }) => ({
    what: `the head of channel "${channel}" is ${head} (${headVersion}), but ${highest} (${highestVersion}) is newer`,
    why: 'Subscriptions install the head, so no subscriber gets the newer version from this channel.',
    fix: `Make ${highest} replace the head, or if ${highest} was withdrawn, remove it from the channel.`,
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      for (const channel of its.channels) {
        const { blob, head } = channel
        const highest = findBundleNewerThanHead(its, channel)
        const own = head && its.bundle(head.name)
        if (head === undefined || own === undefined || highest === undefined) continue
        yield {
          at: toFindingLocation(blob.place, head.mark),
          about: [its.name, blob.name, highest.blob.name],
          data: {
            channel: blob.name,
            head: head.name,
            headVersion: own.versionText,
            highest: highest.blob.name,
            highestVersion: highest.versionText,
          },
        }
      }
    }
  },
})
