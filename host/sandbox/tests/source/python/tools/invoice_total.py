from decimal import ROUND_HALF_UP, Decimal, getcontext


def invoice_total(items: List[dict], vat_percent: str = "19") -> dict:
    """Work out an invoice to the cent.

    Args:
        items (List[dict]): Each with price (text) and quantity.
        vat_percent (str): The tax in percent.
    """
    getcontext().prec = 28
    cent = Decimal("0.01")
    net = sum((Decimal(item["price"]) * item["quantity"] for item in items), Decimal(0))
    vat = (net * Decimal(vat_percent) / 100).quantize(cent, ROUND_HALF_UP)
    return {"net": str(net.quantize(cent)), "vat": str(vat), "total": f"{net + vat:,.2f}", "third": str(Decimal(1) / 3)}
