// The highest version among a channel's entries, and whether the channel ends in it.
import { compareVersions } from '../../../catalog/versions/version.ts'
import type { BundleView, ChannelView, PackageView } from './catalog-view.ts'

/**
 * The bundle that is newer than the channel's head, the highest of them. Undefined when the head is the highest, when
 * there is no single head, or when its version is not known.
 */
export function newerThanHead(its: PackageView, { blob, head }: ChannelView): BundleView | undefined {
  const own = head && its.bundle(head.name)
  if (own?.version === undefined) return undefined
  let highest = own
  for (const { name } of blob.entries) {
    const other = its.bundle(name)
    if (other?.version && highest.version && compareVersions(other.version, highest.version) > 0)
      highest = other
  }
  return highest === own ? undefined : highest
}
