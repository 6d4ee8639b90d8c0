// Mermaid source as a block of Markdown that GitHub draws. The source cannot end the block, whatever it holds.
import { fencedBlock } from './fenced-block.ts'

export function fencedMermaid(source: string): string {
  return fencedBlock('mermaid', source)
}
