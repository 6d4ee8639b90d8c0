import { fencedBlock } from './fenced-block.ts'

export function fencedMermaid(source: string): string {
  return fencedBlock('mermaid', source)
}
