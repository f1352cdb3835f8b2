"""Training values: real and invented names, cities, words and numbers.

None of them is held out (`heldout.is_clean` filters every draw). Invented values matter more than
real ones: thousands of different spellings teach copying, where a short list would be memorised.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable

from train import heldout


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CITIES_EN = _listed(
    "Paris London Berlin Madrid Rome Vienna Prague Warsaw Budapest Athens Lisbon Dublin Oslo "
    "Stockholm "
    "Helsinki Copenhagen Amsterdam Brussels Zurich Geneva Milan Naples Turin Venice Munich "
    "Hamburg Cologne "
    "Frankfurt Barcelona Seville Valencia Lyon Marseille Toulouse Bordeaux Moscow Kyiv Minsk "
    "Riga Vilnius "
    "Tallinn Istanbul Ankara Cairo Tunis Algiers Rabat Lagos Accra Nairobi Dakar Kampala Lusaka "
    "Harare "
    "Pretoria Durban Tokyo Osaka Kyoto Nagoya Sapporo Seoul Busan Beijing Shanghai Guangzhou "
    "Shenzhen "
    "Chengdu Wuhan Hangzhou Nanjing Tianjin Chongqing Taipei Manila Hanoi Bangkok Jakarta "
    "Singapore Delhi "
    "Mumbai Chennai Kolkata Dhaka Karachi Lahore Kabul Tehran Baghdad Riyadh Dubai Doha Amman "
    "Beirut "
    "Jerusalem Sydney Melbourne Perth Brisbane Adelaide Auckland Wellington Toronto Montreal "
    "Vancouver "
    "Ottawa Calgary Boston Chicago Denver Seattle Portland Houston Dallas Austin Miami Atlanta "
    "Detroit "
    "Phoenix Havana Bogota Lima Santiago Caracas Brasilia Recife Salvador Montevideo Asuncion"
)
_CITIES_ZH = _listed(
    "北京 上海 广州 深圳 成都 重庆 武汉 西安 南京 杭州 苏州 天津 青岛 大连 厦门 宁波 无锡 长沙 "
    "郑州 济南 合肥 福州 "
    "昆明 贵阳 太原 沈阳 长春 南昌 海口 三亚 兰州 银川 西宁 拉萨 温州 嘉兴 金华 台州 常州 扬州 "
    "芜湖 蚌埠 赣州 "
    "九江 开封 安阳 宜昌 荆州 岳阳 衡阳 株洲 佛山 东莞 中山 惠州 汕头 绵阳 德阳 遵义 大理 丽江 "
    "延安 咸阳 大同 "
    "巴黎 伦敦 柏林 东京 首尔 纽约 莫斯科 罗马 悉尼 曼谷 新加坡 开罗"
)
_NAMES_EN = _listed(
    "Anna Ben Clara David Emma Frank Grace Henry Irene Jack Karen Liam Maria Nora Oscar Paula "
    "Robert Sophie "
    "Thomas Ursula Victor Wendy Yusuf Zoe Alice Bruno Carmen Daniel Elena Felix Gloria Hugo Ivan "
    "Julia "
    "Kevin Laura Martin Nina Oliver Peter Rachel Simon Tina Vera William Yara Adam Bella Carlos "
    "Diana Eric "
    "Fiona George Helen Isaac Jane Lucas Mila Nathan Olga Pablo Rita Samuel Teresa Walter Amir "
    "Chloe Diego "
)
_SURNAMES_ZH = (
    "赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张孔曹严金魏姜谢邹苏潘葛范彭鲁马方袁柳唐罗薛雷贺汤"
    "邓安常于傅齐康顾孟黄穆萧程叶宋江白陆"
)
_GIVEN_ZH = (
    "伟芳娜敏静丽强磊洋艳勇军杰娟涛明超秀霞平刚桂英华建文辉玲红志宏宇浩然子轩梓涵欣怡雨晨思佳"
    "诗琪俊博天乐小春夏秋冬清源远山川河海云月星辰知行若水溪慕立言景之微以宁可晓峰海燕婉如衿"
)
_WORDS_EN = _listed(
    "apple bread chair dog house tree water stone river mountain garden window table paper "
    "pencil book school "
    "teacher student friend mother father brother sister summer winter spring autumn morning "
    "evening night "
    "music dance paint story letter number color yellow purple orange silver golden wooden "
    "simple quiet loud "
    "quick slow happy angry tired hungry clever honest brave gentle island ocean forest desert "
    "valley bridge "
    "castle market station airport hotel kitchen bottle basket blanket candle mirror ladder "
    "hammer needle "
    "button pocket jacket shoe hat glove scarf ring clock watch radio camera engine wheel rocket "
    "ship boat "
    "train plane horse sheep goat tiger rabbit monkey eagle pigeon spider butterfly salmon "
    "cheese butter "
    "honey sugar pepper tomato potato carrot onion lemon cherry grape melon peanut coffee doctor "
    "farmer "
    "sailor soldier painter singer writer lawyer judge king queen prince ghost dragon giant "
    "cloud storm "
    "rain snow wind fire ice light shadow dust sand mud grass leaf root seed flower"
)
_WORDS_ZH = _listed(
    "苹果 面包 椅子 桌子 房子 大树 河流 石头 高山 花园 窗户 铅笔 学校 老师 学生 朋友 夏天 冬天 "
    "早晨 夜晚 音乐 舞蹈 "
    "故事 数字 颜色 黄色 紫色 银色 安静 勇敢 海洋 森林 沙漠 山谷 大桥 城堡 市场 车站 机场 厨房 "
    "瓶子 篮子 毯子 蜡烛 "
    "镜子 梯子 锤子 扣子 口袋 外套 鞋子 帽子 手套 时钟 相机 火车 飞机 小船 老虎 兔子 猴子 老鹰 "
    "蝴蝶 奶酪 蜂蜜 辣椒 "
    "番茄 土豆 萝卜 洋葱 柠檬 樱桃 葡萄 花生 咖啡 医生 农民 水手 画家 歌手 律师 国王 巨龙 云朵 "
    "暴雨 白雪 阳光 影子 "
    "沙子 青草 树叶 种子 花朵 书包 钥匙 雨伞 电话"
)
_ONSETS = _listed(
    "b c d f g h j k l m n p r s t v w z br cr dr gr kr pl pr st tr sh th ch qu sk sl gl fr x y"
)
_NUCLEI = _listed("a e i o u a e i o u ai ea ie oa ou au y")
_CODAS = (*_listed("n r s l t m d k ck nd rt st x p b g th ng"), *[""] * 12)
# The common characters of GB 2312 level 1: the alphabet of Chinese values.
HANZI = [
    char
    for high in range(0xB0, 0xD8)
    for low in range(0xA1, 0xFF)
    for char in [bytes([high, low]).decode("gb2312", errors="ignore")]
    if char
]


def _clean(draw: Callable[[random.Random], str], rng: random.Random) -> str:
    """Draw until the value is not a held-out one."""
    while True:
        value = draw(rng)
        if heldout.is_clean(value):
            return value


def _syllables(rng: random.Random, low: int, high: int) -> str:
    parts = []
    for _ in range(rng.randint(low, high)):
        parts.append(rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS))
    return "".join(parts)


def invented_word(rng: random.Random) -> str:
    """Return a pronounceable word, or sometimes a random string of letters."""
    if rng.random() < 0.25:
        letters = rng.choices(string.ascii_lowercase, k=rng.randint(3, 8))
        return "".join(letters)
    return _syllables(rng, 1, 3)


def _hanzi(rng: random.Random, low: int, high: int) -> str:
    return "".join(rng.choices(HANZI, k=rng.randint(low, high)))


def city(rng: random.Random, lang: str) -> str:
    """Return a city, two thirds of them invented."""

    def draw(r: random.Random) -> str:
        if lang == "zh":
            return r.choice(_CITIES_ZH) if r.random() < 0.35 else _hanzi(r, 2, 3)
        if r.random() < 0.35:
            return r.choice(_CITIES_EN)
        name = invented_word(r).capitalize()
        return f"{name} {invented_word(r).capitalize()}" if r.random() < 0.08 else name

    return _clean(draw, rng)


def name(rng: random.Random, lang: str) -> str:
    """Return a person's name: a Chinese one has surname and given name."""

    def draw(r: random.Random) -> str:
        if lang == "zh":
            alphabet = _GIVEN_ZH if r.random() < 0.4 else HANZI
            surname = r.choice(_SURNAMES_ZH) if r.random() < 0.8 else r.choice(HANZI)
            return surname + "".join(r.choices(alphabet, k=r.choice((1, 2, 2, 2))))
        if r.random() < 0.3:
            return r.choice(_NAMES_EN)
        return invented_word(r).capitalize()

    return _clean(draw, rng)


def word(rng: random.Random, lang: str) -> str:
    """Return a word to repeat or to look up."""

    def draw(r: random.Random) -> str:
        if lang == "zh":
            return r.choice(_WORDS_ZH) if r.random() < 0.4 else _hanzi(r, 1, 4)
        return r.choice(_WORDS_EN) if r.random() < 0.4 else invented_word(r)

    return _clean(draw, rng)


def phrase(rng: random.Random, lang: str) -> str:
    """Return two to five words."""

    def draw(r: random.Random) -> str:
        words = [word(r, lang) for _ in range(r.randint(2, 5))]
        return ("" if lang == "zh" else " ").join(words)

    return _clean(draw, rng)


def number(rng: random.Random, low: int = 2, high: int = 6) -> str:
    """Return a number of low to high digits, without leading zero."""

    def draw(r: random.Random) -> str:
        digits = r.choices(string.digits, k=r.randint(low, high) - 1)
        return r.choice("123456789") + "".join(digits)

    return _clean(draw, rng)


def real_values() -> list[str]:
    """Return the listed real values, which the tokenizer must not hold as whole words."""
    return [*_CITIES_EN, *_NAMES_EN, *_WORDS_EN]
