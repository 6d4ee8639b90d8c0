/** Thrown inside the fast reader, never outside: the exact reader must look at this document. */
export const handOver = new Error('hand over to the exact reader')
