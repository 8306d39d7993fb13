// What the other scripts share.

export const byId = (id) => document.getElementById(id);

const ANEW = "Started anew: open the address it printed";

export function say(text) {
  byId("lost").textContent = text;
}

// null: it cannot be had now. One that is gone is shown itself.
export async function page(address) {
  const reply = await fetch(address, { headers: { accept: "text/html" } });
  if (reply.status === 401) say(ANEW);
  if (reply.status === 404) location.reload();
  if (!reply.ok) return null;
  return new DOMParser().parseFromString(await reply.text(), "text/html");
}
